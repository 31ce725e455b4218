import { closeSync, existsSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { CudaRegistrationError } from '@gpunvme/cuda-native/cuda'
import { openVfio } from '@gpunvme/host-driver/vfio'
import { NotApplicable, type Check, type Facts } from '../check.js'
import type { CheckContext } from '../context.js'

/** Base class, sub-class and interface of an NVMe controller (PCIe 1.2, PCI header: Class Code). */
const NVME_CLASS = 0x010802
const PAGE_BYTES = 4096
/** Offset of Version, which can be read at any time without side effects. */
const VS = 8
export const VFIO_DRIVER = 'vfio-pci'

function answer(context: CheckContext, address: bigint, lengthBytes: number): Facts {
  try {
    const registration = context.cuda.registerIo(address, lengthBytes)
    const samePointer = registration.gpuPointer === address
    registration.unregister()
    return { accepted: true, samePointer }
  } catch (error) {
    if (!(error instanceof CudaRegistrationError)) throw error
    return { accepted: false, result: error.resultName, category: error.category, facts: error.facts }
  }
}

const ordinary: Check = {
  id: 'io-registration-of-memory',
  title:
    'The driver accepts ordinary memory as registers or rejects it with a named error, and the memory is unchanged',
  limitMs: 20_000,
  run(context) {
    const region = context.allocate(8192)
    region.store32(4096, 0x1234_5678)
    const facts = answer(context, region.address, 8192)
    const kept = region.load32(4096) === 0x1234_5678
    if (!kept) throw new Error('the registration changed the memory')
    return Promise.resolve(facts)
  },
}

/** Returns the given NVMe function, if no other driver uses its registers. @throws NotApplicable otherwise */
export function namedFunction({ nvmeFunction: bdf }: CheckContext) {
  if (bdf === undefined) throw new NotApplicable('no NVMe function given (--bdf)')
  const folder = `/sys/bus/pci/devices/${bdf}`
  if (!existsSync(folder)) throw new NotApplicable(`PCI function ${bdf} does not exist`)
  const found = Number(readFileSync(`${folder}/class`, 'utf8'))
  if (found !== NVME_CLASS) throw new NotApplicable(`${bdf} is not an NVMe controller (class ${found.toString(16)}h)`)
  const driver = existsSync(`${folder}/driver`) ? basename(readlinkSync(`${folder}/driver`)) : undefined
  // Registers that another driver uses must not be mapped.
  if (driver !== undefined && driver !== VFIO_DRIVER) throw new NotApplicable(`${bdf} is bound to the driver ${driver}`)
  return { bdf, folder, driver }
}

const bar: Check = {
  id: 'io-registration-of-bar',
  title: "The driver accepts a controller's registers as mapped by sysfs, or rejects them with a known error",
  limitMs: 20_000,
  run(context) {
    const { folder, driver } = namedFunction(context)
    const file = `${folder}/resource0`
    const fd = openSync(file, 'r+')
    try {
      const { size } = statSync(file)
      const region = context.host.map(fd, 0, size, 'read-write')
      context.later(() => region.unmap())
      // Only registers the region: nothing is read or written there.
      return Promise.resolve({ lengthBytes: size, driver: driver ?? null, ...answer(context, region.address, size) })
    } finally {
      closeSync(fd)
    }
  },
}

const vfio: Check = {
  id: 'io-registration-of-vfio',
  title: "The driver accepts a controller's registers as mapped by VFIO, or rejects them with a known error",
  limitMs: 30_000,
  async run(context) {
    const { bdf, driver } = namedFunction(context)
    if (driver !== VFIO_DRIVER) throw new NotApplicable(`${bdf} is not bound to ${VFIO_DRIVER}`)
    const transport = await openVfio({ host: context.host, bdf })
    context.later(() => transport.close())
    const { window } = transport.bar
    if (window === undefined) throw new NotApplicable(`VFIO maps no registers of ${bdf}`)
    // VFIO maps a page on its first access, and only mapped pages can be registered. Doorbells, which start in the next page,
    // must not be read.
    const version = transport.bar.read32(VS)
    const registered = answer(context, window.address, PAGE_BYTES)
    return { lengthBytes: PAGE_BYTES, mode: transport.mode, version: version.toString(16), ...registered }
  },
}

/** Registration of a controller's registers with the driver. */
export const registrationChecks: readonly Check[] = [ordinary, bar, vfio]
