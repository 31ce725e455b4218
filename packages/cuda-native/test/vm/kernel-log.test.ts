import { expect, test } from 'vitest'
import { kernelFaults } from './kernel-log.js'

// Lines as Linux 6.1 prints them.
test.each([
  'BUG: kernel NULL pointer dereference, address: 0000000000000008',
  'WARNING: CPU: 1 PID: 77 at drivers/iommu/iommu.c:2420 iommu_unmap+0x1e/0x30',
  'Oops: 0002 [#1] PREEMPT SMP NOPTI',
  'DMAR: [DMA Write NO_PASID] Request device [00:04.0] fault addr 0x1000 [fault reason 0x05] PTE Write access is not set',
  'INFO: task node:91 blocked for more than 120 seconds.',
  'watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [node:91]',
  'nvme nvme0: I/O 12 QID 1 timeout, aborting',
  'BUG: Bad page state in process node  pfn:3fe00',
  'node[91]: segfault at 7f2c ip 00007f2c sp 00007ffd error 4 in libc.so.6',
])('is a fault: %s', (line) => {
  expect(kernelFaults(['nvme nvme0: 2/0/0 default/read/poll queues', line])).toEqual([line])
})

test.each([
  'vfio: module verification failed: signature and/or required key missing - tainting kernel',
  'gpunvme: module verification failed: signature and/or required key missing - tainting kernel',
  'nvme nvme0: pci function 0000:00:04.0',
  'vfio-pci 0000:01:00.0: Relaying device request to user (#0)',
  'pcieport 0000:00:05.0: pciehp: Slot(1): Card not present',
  'DMAR: Intel(R) Virtualization Technology for Directed I/O',
  'vfio-pci 0000:00:04.0: vfio-noiommu device opened by user (node:91)',
])('is none: %s', (line) => {
  expect(kernelFaults([line])).toEqual([])
})
