// What must not compile. Checked by `tsc -p tsconfig.json`: an expected error that does not come is an error itself.
/* eslint-disable @typescript-eslint/no-unsafe-call -- what must not compile does not resolve either */
import { CAP, CC } from '@gpunvme/nvme-spec'
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

  const writer = await Controller.open(transport, { write: { serial: 'S' } })
  await writer.namespace(1).write(0, 1, memory)

  // @ts-expect-error CAP is read-only
  registers.write(CAP, { TO: 1 })
  // @ts-expect-error CC has no field of that name
  registers.write(CC, { ENABLE: 1 })
  // @ts-expect-error 5 is no I/O Command Set of CC.CSS
  registers.write(CC, { CSS: 5 })
}
