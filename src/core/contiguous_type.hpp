// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include "diffsim/core/error.hpp"

namespace diffsim {

/// MPI datatype of `count` consecutive values of one type. The destructor frees the datatype if the constructor created
/// a new datatype.
class ContiguousType {
 public:
  ContiguousType(int count, MPI_Datatype type) : type_(type), is_new_(count != 1) {
    if (!is_new_) return;  // MPI's reduction operations require predefined types
    DIFFSIM_MPI(MPI_Type_contiguous(count, type, &type_));
    DIFFSIM_MPI(MPI_Type_commit(&type_));
  }
  ~ContiguousType() {
    if (is_new_) MPI_Type_free(&type_);
  }
  ContiguousType(const ContiguousType&) = delete;
  ContiguousType& operator=(const ContiguousType&) = delete;
  operator MPI_Datatype() const { return type_; }  // NOLINT

 private:
  MPI_Datatype type_;
  bool is_new_;
};

}  // namespace diffsim
