// Copyright (c) 2026 the diffsim authors. SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>

#include "diffsim/sensor/sensor.hpp"
#include "scene.hpp"

namespace diffsim::python {

/// Python object that owns a sensor and refers to the sensor's scene.
class SensorHandle final : public Handle {
 public:
  SensorHandle(std::shared_ptr<Sensor> sensor, std::shared_ptr<SharedScene> scene)
      : scene_(std::move(scene)), sensor_(std::move(sensor)) {}
  ~SensorHandle() override {
    const ReleaseScope scope;
    release();
  }
  void release() override {
    sensor_.reset();
    scene_.reset();
  }
  const std::shared_ptr<Sensor>& shared() const {
    if (!sensor_) throw_finalised();
    return sensor_;
  }
  const std::shared_ptr<SharedScene>& scene() const {
    if (!scene_) throw_finalised();
    return scene_;
  }

 private:
  std::shared_ptr<SharedScene> scene_;
  std::shared_ptr<Sensor> sensor_;
};

}  // namespace diffsim::python
