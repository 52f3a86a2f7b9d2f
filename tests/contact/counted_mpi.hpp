// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <map>
#include <set>
#include <string>

/// Counts the bytes and messages that a rank sends. A program that includes this header once replaces MPI's functions
/// by the functions below, also for calls made by PETSc. MPI implementations do not call these functions within
/// collectives, so a collective counts as one call with the bytes that this rank contributes.
namespace diffsim::testing_mpi {

struct Sent {
  long messages = 0, bytes = 0;                            // sent to other ranks
  std::set<int> to;                                        // receiving ranks
  std::map<std::string, std::array<long, 2>> collectives;  // calls and bytes by name
};

inline bool counting = false;
inline Sent sent;

inline long bytes_of(int count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return static_cast<long>(count) * size;
}

inline void count_message(long bytes, int to, MPI_Comm comm) {
  int mine = 0;
  PMPI_Comm_rank(comm, &mine);
  if (!counting || to == MPI_PROC_NULL || to == mine) return;
  ++sent.messages;
  sent.bytes += bytes;
  sent.to.insert(to);
}

inline void count_collective(const char* name, long bytes) {
  if (!counting) return;
  sent.collectives[name][0] += 1;
  sent.collectives[name][1] += bytes;
}

/// Persistent send requests.
struct Persistent {
  long bytes;
  int to;
  MPI_Comm comm;
};
inline std::map<MPI_Request, Persistent> persistent;

inline void count_start(MPI_Request request) {
  const auto there = persistent.find(request);
  if (there != persistent.end()) count_message(there->second.bytes, there->second.to, there->second.comm);
}

}  // namespace diffsim::testing_mpi

namespace counted = diffsim::testing_mpi;

// PETSc defines macros with these names, which call the functions.
#undef MPI_Send
#undef MPI_Isend
#undef MPI_Issend
#undef MPI_Sendrecv
#undef MPI_Send_init
#undef MPI_Recv_init
#undef MPI_Start
#undef MPI_Startall
#undef MPI_Barrier
#undef MPI_Ibarrier
#undef MPI_Bcast
#undef MPI_Allreduce
#undef MPI_Reduce
#undef MPI_Scan
#undef MPI_Exscan
#undef MPI_Reduce_scatter_block
#undef MPI_Reduce_scatter
#undef MPI_Gather
#undef MPI_Gatherv
#undef MPI_Allgather
#undef MPI_Allgatherv
#undef MPI_Alltoall
#undef MPI_Alltoallv
#undef MPI_Comm_dup
#undef MPI_Comm_split

extern "C" {

int MPI_Send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  counted::count_message(counted::bytes_of(count, type), to, comm);
  return PMPI_Send(data, count, type, to, tag, comm);
}

int MPI_Isend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  counted::count_message(counted::bytes_of(count, type), to, comm);
  return PMPI_Isend(data, count, type, to, tag, comm, request);
}

int MPI_Issend(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  counted::count_message(counted::bytes_of(count, type), to, comm);
  return PMPI_Issend(data, count, type, to, tag, comm, request);
}

int MPI_Sendrecv(const void* data, int count, MPI_Datatype type, int to, int tag, void* received, int room,
                 MPI_Datatype received_type, int from, int received_tag, MPI_Comm comm, MPI_Status* status) {
  counted::count_message(counted::bytes_of(count, type), to, comm);
  return PMPI_Sendrecv(data, count, type, to, tag, received, room, received_type, from, received_tag, comm, status);
}

int MPI_Send_init(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  const int code = PMPI_Send_init(data, count, type, to, tag, comm, request);
  counted::persistent[*request] = {counted::bytes_of(count, type), to, comm};
  return code;
}

int MPI_Recv_init(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  const int code = PMPI_Recv_init(data, count, type, from, tag, comm, request);
  counted::persistent.erase(*request);  // the implementation may reuse the handle
  return code;
}

int MPI_Start(MPI_Request* request) {
  counted::count_start(*request);
  return PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request* requests) {
  for (int i = 0; i < count; ++i) counted::count_start(requests[i]);
  return PMPI_Startall(count, requests);
}

int MPI_Barrier(MPI_Comm comm) {
  counted::count_collective("Barrier", 0);
  return PMPI_Barrier(comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  counted::count_collective("Ibarrier", 0);
  return PMPI_Ibarrier(comm, request);
}

int MPI_Bcast(void* data, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  counted::count_collective("Bcast", counted::bytes_of(count, type));
  return PMPI_Bcast(data, count, type, root, comm);
}

int MPI_Allreduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  counted::count_collective("Allreduce", counted::bytes_of(count, type));
  return PMPI_Allreduce(data, result, count, type, op, comm);
}

int MPI_Reduce(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  counted::count_collective("Reduce", counted::bytes_of(count, type));
  return PMPI_Reduce(data, result, count, type, op, root, comm);
}

int MPI_Scan(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  counted::count_collective("Scan", counted::bytes_of(count, type));
  return PMPI_Scan(data, result, count, type, op, comm);
}

int MPI_Exscan(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  counted::count_collective("Exscan", counted::bytes_of(count, type));
  return PMPI_Exscan(data, result, count, type, op, comm);
}

// Collectives in which each rank sends to, or receives from, every other rank.

int MPI_Reduce_scatter_block(const void* data, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  int ranks = 1;
  PMPI_Comm_size(comm, &ranks);
  counted::count_collective("Reduce_scatter_block", ranks * counted::bytes_of(count, type));
  return PMPI_Reduce_scatter_block(data, result, count, type, op, comm);
}

int MPI_Reduce_scatter(const void* data, void* result, const int* counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  counted::count_collective("Reduce_scatter", 0);
  return PMPI_Reduce_scatter(data, result, counts, type, op, comm);
}

int MPI_Gather(const void* data, int count, MPI_Datatype type, void* result, int room, MPI_Datatype result_type,
               int root, MPI_Comm comm) {
  counted::count_collective("Gather", counted::bytes_of(count, type));
  return PMPI_Gather(data, count, type, result, room, result_type, root, comm);
}

int MPI_Gatherv(const void* data, int count, MPI_Datatype type, void* result, const int* counts, const int* begins,
                MPI_Datatype result_type, int root, MPI_Comm comm) {
  counted::count_collective("Gatherv", counted::bytes_of(count, type));
  return PMPI_Gatherv(data, count, type, result, counts, begins, result_type, root, comm);
}

int MPI_Allgather(const void* data, int count, MPI_Datatype type, void* result, int room, MPI_Datatype result_type,
                  MPI_Comm comm) {
  counted::count_collective("Allgather", counted::bytes_of(count, type));
  return PMPI_Allgather(data, count, type, result, room, result_type, comm);
}

int MPI_Allgatherv(const void* data, int count, MPI_Datatype type, void* result, const int* counts, const int* begins,
                   MPI_Datatype result_type, MPI_Comm comm) {
  counted::count_collective("Allgatherv", counted::bytes_of(count, type));
  return PMPI_Allgatherv(data, count, type, result, counts, begins, result_type, comm);
}

int MPI_Alltoall(const void* data, int count, MPI_Datatype type, void* result, int room, MPI_Datatype result_type,
                 MPI_Comm comm) {
  int ranks = 1;
  PMPI_Comm_size(comm, &ranks);
  counted::count_collective("Alltoall", ranks * counted::bytes_of(count, type));
  return PMPI_Alltoall(data, count, type, result, room, result_type, comm);
}

int MPI_Alltoallv(const void* data, const int* counts, const int* begins, MPI_Datatype type, void* result,
                  const int* rooms, const int* result_begins, MPI_Datatype result_type, MPI_Comm comm) {
  counted::count_collective("Alltoallv", 0);
  return PMPI_Alltoallv(data, counts, begins, type, result, rooms, result_begins, result_type, comm);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* result) {
  counted::count_collective("Comm_dup", 0);
  return PMPI_Comm_dup(comm, result);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* result) {
  counted::count_collective("Comm_split", 0);
  return PMPI_Comm_split(comm, colour, key, result);
}

}  // extern "C"
