import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { DriverError } from '../../error.js'
import { checkConfigAccess } from '../../pci/config-space.js'
import { ReadConfig } from './abi.js'
import { call, setBusMaster, unlessRemoved, type KmodNode } from './call.js'

/**
 * Configuration space as the module provides it: all of it can be read, and only Bus Master Enable of COMMAND written;
 * the kernel owns the rest. A removed function reads all ones and takes no writes, as on the bus.
 */
export function kmodConfigSpace(node: KmodNode): ConfigSpace {
  const read = (offset: number, widthBytes: 1 | 2 | 4) => {
    checkConfigAccess(offset, widthBytes)
    const answer = ReadConfig.create({ SIZE: ReadConfig.bytes, OFFSET: offset, WIDTH: widthBytes })
    answer.VALUE = 2 ** (8 * widthBytes) - 1
    unlessRemoved(() => call(node, 'READ_CONFIG', answer.data))
    return answer.VALUE
  }
  return {
    read,
    write(offset, widthBytes, value) {
      checkConfigAccess(offset, widthBytes, value)
      const { CMD } = PciHeader
      const before = read(offset, widthBytes)
      const isBusMaster = offset === CMD.offset && widthBytes === 2
      if (before === 0xffff && isBusMaster) return
      if (!isBusMaster || ((before ^ value) & ~(1 << CMD.BME.lsb)) !== 0)
        throw notWritable(node.bdf, offset, widthBytes)
      unlessRemoved(() => setBusMaster(node, CMD.BME.of(value) === 1))
    },
  }
}

function notWritable(bdf: string, offset: number, widthBytes: number): DriverError {
  const headline = `Cannot write ${widthBytes} bytes at 0x${offset.toString(16)} of configuration space of ${bdf}`
  return new DriverError('ERR_GPUNVME_KMOD_CONFIG_WRITE', 'infeasible', headline, {
    facts: ['the module gpunvme writes only Bus Master Enable: bit 2 of COMMAND, 2 bytes at 0x4'],
    next: 'run setpci as root while no transport is open',
  })
}
