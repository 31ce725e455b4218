import { AdminReader, CommandError, type AdminExchange } from '@gpunvme/host-driver'
import { allocateLocked } from '@gpunvme/host-driver/sysfs'
import { formatSqe, GetFeatures, GetLogPage, Identify, SQE, type ErrorCategory } from '@gpunvme/nvme-spec'
import { struct, u16, u32, u64, u8 } from '@gpunvme/nvme-spec/layout'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, openSync } from 'node:fs'
import { isSystemError } from '../command-line/file-error.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/** _IOWR('N', 0x41, struct nvme_passthru_cmd). */
export const NVME_IOCTL_ADMIN_CMD = 0xc048_4e41

/** A command for Linux, with the field names of its header in upper case. */
export const PassthroughCommand = struct(
  'nvme_passthru_cmd',
  { bytes: 72, doc: 'A passthrough command', spec: 'Linux 6.1 linux/nvme_ioctl.h nvme_passthru_cmd' },
  {
    OPCODE: u8(0, 'Opcode'),
    FLAGS: u8(1, 'Flags; 0'),
    RSVD1: u16(2, 'Reserved; 0'),
    NSID: u32(4, 'Namespace'),
    CDW2: u32(8, 'Command Dword 2'),
    CDW3: u32(12, 'Command Dword 3'),
    METADATA: u64(16, 'Address of metadata'),
    ADDR: u64(24, 'Address of data, in this process'),
    METADATA_LEN: u32(32, 'Bytes of metadata'),
    DATA_LEN: u32(36, 'Bytes of data'),
    CDW10: u32(40, 'Command Dword 10'),
    CDW11: u32(44, 'Command Dword 11'),
    CDW12: u32(48, 'Command Dword 12'),
    CDW13: u32(52, 'Command Dword 13'),
    CDW14: u32(56, 'Command Dword 14'),
    CDW15: u32(60, 'Command Dword 15'),
    TIMEOUT_MS: u32(64, 'Time limit; 0 for the default of the kernel'),
    RESULT: u32(68, 'Dword 0 of the completion'),
  },
)

/** Maximum bytes per command. */
const PAGE_BYTES = 4096

/** Access to a drive through Linux's own driver. */
export interface Passthrough {
  readonly reader: AdminReader
  close(): void
}

/**
 * Opens the node of a controller that is bound to the kernel's driver, /dev/nvme0, for queries only: commands that
 * would change the drive are rejected before they are sent. The kernel continues to use the drive.
 * @throws ToolsError (PASSTHROUGH), DriverError (MEMLOCK_LIMIT), CommandError.
 */
export async function openPassthrough(host: HardwareHost, node: string): Promise<Passthrough> {
  const fd = refusable(node, 'open', () => openSync(node, 'r'))
  let page: NativeRegion | undefined
  const close = () => {
    page?.unmap()
    closeSync(fd)
  }
  try {
    page = allocateLocked(host, '/', PAGE_BYTES, PAGE_BYTES)
    return { reader: await AdminReader.open(exchangeBy(host, fd, node, page)), close }
  } catch (error) {
    close()
    throw error
  }
}

function exchangeBy(host: HardwareHost, fd: number, node: string, page: NativeRegion): AdminExchange {
  // oxlint-disable-next-line typescript/require-await -- a refusal must reject, as in any exchange
  return async (command, values, options) => {
    const { lengthBytes = PAGE_BYTES } = options ?? {}
    const entry = new DataView(new ArrayBuffer(SQE.bytes))
    command.encode(entry, 0, values)
    requireQuestion(entry)
    const argument = argumentOf(entry, page.address)
    const memory = new Uint8Array(page.buffer)
    memory.fill(0)
    const status = refusable(node, `send ${command.name} to`, () =>
      host.ioctl(fd, NVME_IOCTL_ADMIN_CMD, argument.bytes),
    )
    const dw0 = argument.view.RESULT
    // The kernel returns 15 bits of the status field.
    if (status !== 0) throw new CommandError(command.name, formatSqe('admin', entry), status & 0x7fff, dw0)
    return { dw0, data: new DataView(memory.slice(0, lengthBytes).buffer) }
  }
}

/** @throws TypeError for an entry that is not a query. */
export function requireQuestion(entry: DataView): void {
  const { OPC } = SQE.view(entry)
  const page = GetLogPage.view(entry)
  const isQuestion =
    OPC === Identify.opcode ||
    OPC === GetFeatures.opcode ||
    // Without RAE it would take events from the kernel's driver; with LSP it creates telemetry and report contexts.
    (OPC === GetLogPage.opcode && page.RAE === 1 && page.LSP === 0 && bytesAsked(page) <= PAGE_BYTES)
  if (!isQuestion) throw new TypeError(`only queries are allowed, got ${formatSqe('admin', entry)}`)
}

function bytesAsked({ NUMDL, NUMDU }: { readonly NUMDL: number; readonly NUMDU: number }): number {
  return (NUMDU * 0x1_0000 + NUMDL + 1) * 4
}

/** @param address of a whole page: data of any length from the drive must not reach other memory. */
function argumentOf(entry: DataView, address: bigint) {
  const bytes = new Uint8Array(PassthroughCommand.bytes)
  const view = PassthroughCommand.view(new DataView(bytes.buffer))
  view.OPCODE = entry.getUint8(0)
  view.NSID = entry.getUint32(4, true)
  view.ADDR = address
  view.DATA_LEN = PAGE_BYTES
  // Dwords 10 to 15 have the same layout as in an entry. The kernel's own time limit applies, at whose end it resets
  // the drive.
  bytes.set(new Uint8Array(entry.buffer, 40, 24), 40)
  return { bytes, view }
}

function refusable<T>(node: string, attempt: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw passthroughError(node, attempt, error.code, error)
  }
}

/** Meaning of the kernel's errors, by code. */
const REFUSALS: Readonly<Record<string, readonly [category: ErrorCategory, words: string, next: NextStep]>> = {
  ENOENT: [
    'not-found',
    'the node does not exist',
    'in a container, pass it with --device; otherwise create it with udevadm trigger',
  ],
  EACCES: ['privilege', 'permission denied', 'run as root'],
  EPERM: ['privilege', 'not permitted', 'run as root, outside containers without CAP_SYS_ADMIN'],
  ENOTTY: ['not-found', 'it is not an NVMe controller', { command: ['list'], note: 'which lists the drives' }],
}

const GONE: NextStep = [
  { command: ['list'], note: 'which shows whether the drive is on the bus' },
  'check the kernel log (dmesg): the driver may be resetting the drive',
]

/** Error of a query that the kernel did not pass on. */
function passthroughError(node: string, attempt: string, errno: string, cause?: unknown): ToolsError {
  const [category, words, next] = REFUSALS[errno] ?? ['device', 'the kernel cannot reach the drive', GONE]
  return new ToolsError('ERR_GPUNVME_PASSTHROUGH', category, `Cannot ${attempt} ${node}: ${words} (${errno})`, {
    next,
    cause,
  })
}
