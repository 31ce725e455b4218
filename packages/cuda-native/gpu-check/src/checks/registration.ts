import { existsSync, openSync, closeSync, readFileSync, statSync } from 'node:fs'
import { CudaRegistrationError } from '@gpunvme/cuda-native/cuda'
import { NotApplicable, type Check, type Facts } from '../check.js'
import type { CheckContext } from '../context.js'

/** Base class, sub-class and interface of an NVMe controller (PCIe 1.2, PCI header: Class Code). */
const NVME_CLASS = 0x010802

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

const bar: Check = {
  id: 'io-registration-of-bar',
  title: "The driver accepts a controller's registers, or refuses them for a reason that is known",
  limitMs: 20_000,
  run(context) {
    const { nvmeFunction } = context
    if (nvmeFunction === undefined) throw new NotApplicable('no NVMe function without a driver was named')
    const folder = `/sys/bus/pci/devices/${nvmeFunction}`
    if (!existsSync(folder)) throw new NotApplicable(`there is no PCI function ${nvmeFunction}`)
    const found = Number(readFileSync(`${folder}/class`, 'utf8'))
    if (found !== NVME_CLASS)
      throw new NotApplicable(`${nvmeFunction} is of class ${found.toString(16)}, no NVMe controller`)
    // Somebody else's registers are nobody's to map.
    if (existsSync(`${folder}/driver`)) throw new NotApplicable(`${nvmeFunction} has a driver`)
    const file = `${folder}/resource0`
    const fd = openSync(file, 'r+')
    try {
      const { size } = statSync(file)
      const region = context.host.map(fd, 0, size, 'read-write')
      context.later(() => region.unmap())
      // It is registered and no more: nothing is read or written there.
      return Promise.resolve({ lengthBytes: size, ...answer(context, region.address, size) })
    } finally {
      closeSync(fd)
    }
  },
}

/** What the driver says to registers of a controller. */
export const registrationChecks: readonly Check[] = [ordinary, bar]
