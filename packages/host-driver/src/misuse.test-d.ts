// Code that must not compile, checked by `tsc -p tsconfig.json`: a missing expected error is itself an error.
/* oxlint-disable typescript/no-unsafe-call, typescript/no-unsafe-member-access -- code that must not compile does not resolve either */
import { CAP, CC, Flush, TemperatureThreshold, Timestamp } from '@gpunvme/nvme-spec'
import type { DmaMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { Controller } from './controller.js'
import type { Registers } from './bring-up/registers.js'

declare const transport: Transport
declare const memory: DmaMemory
declare const registers: Registers

export async function misuse(): Promise<void> {
  const reader = await Controller.open(transport)
  // @ts-expect-error a handle opened for reading has no write()
  await reader.namespace(1).write(0, 1, memory)
  // @ts-expect-error a handle opened for reading has no flush()
  await reader.namespace(1).flush()
  // @ts-expect-error registers of a handle are read-only
  reader.registers.write(CC, { EN: 0 })
  // @ts-expect-error writing requires the serial number
  await Controller.open(transport, { write: {} })

  // @ts-expect-error a handle opened for reading has no writeZeroes()
  await reader.namespace(1).writeZeroes(0, 1)
  // @ts-expect-error a handle opened for reading has no deallocate()
  await reader.namespace(1).deallocate([{ slba: 0, blocks: 1 }])
  // @ts-expect-error a handle opened for reading has no copy()
  await reader.namespace(1).copy([{ slba: 0, blocks: 1 }], 8)
  // @ts-expect-error a handle opened for reading has no management
  reader.management.format(1, { lbaFormat: 0 })
  await reader.namespace(1).verify(0, 1)
  ;(await reader.namespace(1).compare(0, 1, memory)) satisfies boolean
  // @ts-expect-error management requires the serial number
  await Controller.open(transport, { manage: true })

  const maybe = { serial: 'S' } as { serial: string } | undefined
  const either = await Controller.open(transport, { write: maybe })
  await either.namespace(1).read(0, 1, memory)
  // @ts-expect-error whether the handle was opened for writing is known only at run time
  await either.namespace(1).flush()

  const writer = await Controller.open(transport, { write: { serial: 'S' } })
  await writer.namespace(1).write(0, 1, memory)
  // @ts-expect-error a handle opened for writing has no management
  writer.management.format(1, { lbaFormat: 0 })

  const manager = await Controller.open(transport, { write: { serial: 'S' }, manage: true })
  await manager.management.format(1, { lbaFormat: 0 })
  // @ts-expect-error the feature has no field of that name
  await manager.management.setFeature(TemperatureThreshold, { CDW11: { TEMPERATURE: 1 } })
  // @ts-expect-error the feature has no Command Dword 12
  await manager.management.setFeature(TemperatureThreshold, { CDW12: 1 })
  // @ts-expect-error the command has no field of that name
  await manager.management.submitIo(Flush, { NSID: 1, LBA: 5 })
  const { DW0, data } = await manager.getFeature(Timestamp)
  // @ts-expect-error Timestamp returns data, and declares no fields of DW0
  DW0.TMPTH.toString()
  data.TSTMP.toFixed()

  // @ts-expect-error CAP is read-only
  registers.write(CAP, { TO: 1 })
  // @ts-expect-error CC has no field of that name
  registers.write(CC, { ENABLE: 1 })
  // @ts-expect-error 5 is not a valid value of CC.CSS
  registers.write(CC, { CSS: 5 })
}
