# SPDX-License-Identifier: GPL-2.0-only
scenario() {
	has_tracer mmiotrace || { skip "mmiotrace" "this kernel has no such tracer"; return; }
	VARIANTS='raw'
	live mmiotrace 'echo "a marker" > $I/trace_marker
		device=$(ls -d /sys/bus/virtio/drivers/virtio_blk/virtio* | head -n 1)
		device=$(readlink -f /sys/bus/virtio/devices/${device##*/}/..)
		echo ${device##*/} > /sys/bus/pci/drivers/virtio-pci/unbind
		echo ${device##*/} > /sys/bus/pci/drivers/virtio-pci/bind' -p mmiotrace
	echo 1 > /sys/devices/system/cpu/cpu1/online
}
