import { closeSync, existsSync, openSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { CudaRegistrationError } from '@gpunvme/cuda-native/cuda'
import { openVfio } from '@gpunvme/host-driver/vfio'
import { NotApplicable, type Check, type Facts } from '../check.js'
import type { CheckContext } from '../context.js'

/** Base class, sub-class and interface of an NVMe controller (PCIe 1.2, PCI header: Class Code). */
const NVME_CLASS = 0x010802
const PAGE_BYTES = 4096
/** Version, which may be read at any time and changes nothing. */
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
  title: 'Ordinary memory given as registers is accepted or refused by name, and is memory as before',
  limitMs: 20_000,
  run(context) {
    const region = context.allocate(8192)
    region.store32(4096, 0x1234_5678)
    const facts = answer(context, region.address, 8192)
    const kept = region.load32(4096) === 0x1234_5678
    if (!kept) throw new Error('the memory changed')
    return Promise.resolve(facts)
  },
}

/** The function that was named, where its registers are nobody else's. @throws NotApplicable */
export function namedFunction({ nvmeFunction: bdf }: CheckContext) {
  if (bdf === undefined) throw new NotApplicable('no NVMe function was named')
  const folder = `/sys/bus/pci/devices/${bdf}`
  if (!existsSync(folder)) throw new NotApplicable(`there is no PCI function ${bdf}`)
  const found = Number(readFileSync(`${folder}/class`, 'utf8'))
  if (found !== NVME_CLASS) throw new NotApplicable(`${bdf} is of class ${found.toString(16)}, no NVMe controller`)
  const driver = existsSync(`${folder}/driver`) ? basename(readlinkSync(`${folder}/driver`)) : undefined
  // Somebody else's registers are nobody's to map.
  if (driver !== undefined && driver !== VFIO_DRIVER) throw new NotApplicable(`${bdf} has the driver ${driver}`)
  return { bdf, folder, driver }
}

const bar: Check = {
  id: 'io-registration-of-bar',
  title: "The driver accepts a controller's registers as sysfs maps them, or refuses them for a reason that is known",
  limitMs: 20_000,
  run(context) {
    const { folder, driver } = namedFunction(context)
    const file = `${folder}/resource0`
    const fd = openSync(file, 'r+')
    try {
      const { size } = statSync(file)
      const region = context.host.map(fd, 0, size, 'read-write')
      context.later(() => region.unmap())
      // It is registered and no more: nothing is read or written there.
      return Promise.resolve({ lengthBytes: size, driver: driver ?? null, ...answer(context, region.address, size) })
    } finally {
      closeSync(fd)
    }
  },
}

const vfio: Check = {
  id: 'io-registration-of-vfio',
  title: "The driver accepts a controller's registers as VFIO maps them, or refuses them for a reason that is known",
  limitMs: 30_000,
  async run(context) {
    const { bdf, driver } = namedFunction(context)
    if (driver !== VFIO_DRIVER) throw new NotApplicable(`${bdf} is not bound to ${VFIO_DRIVER}`)
    const transport = await openVfio({ host: context.host, bdf })
    context.later(() => transport.close())
    const { window } = transport.bar
    if (window === undefined) throw new NotApplicable(`VFIO maps no registers of ${bdf}`)
    // VFIO maps a page when it is first accessed, and only what is mapped can be registered. Doorbells, which begin in the
    // next page, are not to be read.
    const version = transport.bar.read32(VS)
    const registered = answer(context, window.address, PAGE_BYTES)
    return { lengthBytes: PAGE_BYTES, mode: transport.mode, version: version.toString(16), ...registered }
  },
}

/** What the driver says to registers of a controller. */
export const registrationChecks: readonly Check[] = [ordinary, bar, vfio]
