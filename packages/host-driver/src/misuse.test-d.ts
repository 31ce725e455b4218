// What must not compile. Checked by `tsc -p tsconfig.json`: an expected error that does not come is an error itself.
/* oxlint-disable typescript/no-unsafe-call, typescript/no-unsafe-member-access -- what must not compile does not resolve either */
import { CAP, CC, Flush, TemperatureThreshold, Timestamp } from '@gpunvme/nvme-spec'
import type { DmaMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { Controller } from './controller.js'
import type { Registers } from './bring-up/registers.js'

declare const transport: Transport
declare const memory: DmaMemory
declare const registers: Registers

export async function misuse(): Promise<void> {
  const reader = await Controller.open(transport)
  // @ts-expect-error a handle that was not opened for writing has no write
  await reader.namespace(1).write(0, 1, memory)
  // @ts-expect-error nor a flush
  await reader.namespace(1).flush()
  // @ts-expect-error nor a way to write registers
  reader.registers.write(CC, { EN: 0 })
  // @ts-expect-error writing takes the serial number
  await Controller.open(transport, { write: {} })

  // @ts-expect-error nor any other command that changes blocks
  await reader.namespace(1).writeZeroes(0, 1)
  // @ts-expect-error nor Dataset Management
  await reader.namespace(1).deallocate([{ slba: 0, blocks: 1 }])
  // @ts-expect-error nor one that copies blocks
  await reader.namespace(1).copy([{ slba: 0, blocks: 1 }], 8)
  // @ts-expect-error nor what changes the drive
  reader.management.format(1, { lbaFormat: 0 })
  await reader.namespace(1).verify(0, 1)
  ;(await reader.namespace(1).compare(0, 1, memory)) satisfies boolean
  // @ts-expect-error management takes the serial number
  await Controller.open(transport, { manage: true })

  const maybe = { serial: 'S' } as { serial: string } | undefined
  const either = await Controller.open(transport, { write: maybe })
  await either.namespace(1).read(0, 1, memory)
  // @ts-expect-error whether it was opened for writing is only known when the program runs
  await either.namespace(1).flush()

  const writer = await Controller.open(transport, { write: { serial: 'S' } })
  await writer.namespace(1).write(0, 1, memory)
  // @ts-expect-error writing is not managing
  writer.management.format(1, { lbaFormat: 0 })

  const manager = await Controller.open(transport, { write: { serial: 'S' }, manage: true })
  await manager.management.format(1, { lbaFormat: 0 })
  // @ts-expect-error the feature has no row of that name
  await manager.management.setFeature(TemperatureThreshold, { CDW11: { TEMPERATURE: 1 } })
  // @ts-expect-error the feature has no Command Dword 12
  await manager.management.setFeature(TemperatureThreshold, { CDW12: 1 })
  // @ts-expect-error the command has no field of that name
  await manager.management.submitIo(Flush, { NSID: 1, LBA: 5 })
  const { DW0, data } = await manager.getFeature(Timestamp)
  // @ts-expect-error Timestamp answers with data, and declares no rows of DW0
  DW0.TMPTH.toString()
  data.TSTMP.toFixed()

  // @ts-expect-error CAP is read-only
  registers.write(CAP, { TO: 1 })
  // @ts-expect-error CC has no field of that name
  registers.write(CC, { ENABLE: 1 })
  // @ts-expect-error 5 is no I/O Command Set of CC.CSS
  registers.write(CC, { CSS: 5 })
}
