import { join } from 'node:path'
import { tcpPduParts, type TcpPduParts } from '@gpunvme/nvme-spec/fabrics'
import { expect } from 'vitest'
import { runGuest, type GuestRun } from './guest.js'
import { ModuleFolder } from './modules.js'
import type { GuestParts } from './parts.js'

/** Bytes of one connection in base64, as programs of `fabrics/` print them. */
interface PrintedConnection {
  readonly name: string
  readonly host: string
  readonly controller: string
}

/** An NVMe/TCP PDU. */
export interface Pdu extends TcpPduParts {
  readonly bytes: Buffer
  readonly view: DataView
}

/** PDUs of one connection, by sender. */
export interface Connection {
  /** Name of its association. */
  readonly name: string
  readonly host: readonly Pdu[]
  readonly controller: readonly Pdu[]
}

/** Runs a program of `fabrics/` in a guest, with more kernel modules than all of them need. */
export async function recordIn(
  parts: GuestParts,
  program: string,
  modules: readonly string[] = [],
): Promise<{ guest: GuestRun; connections: Connection[] }> {
  const needed = ['virtio_pci', '9pnet_virtio', '9p', 'configfs', ...modules, 'brd', 'nvmet_tcp', 'nvme_tcp']
  const guest = await runGuest({
    parts,
    modules: new ModuleFolder(parts.modules).inOrder(needed),
    devices: [],
    images: {},
    memoryMiB: 1024,
    deadlineMs: 600_000,
    onlyPrograms: true,
    programs: join(import.meta.dirname, 'fabrics'),
    scenarios: [{ name: program, script: program, timeoutMs: 300_000 }],
  })
  const { end, lines = [] } = guest.scenarios.get(program) ?? {}
  expect(end, end === undefined ? guest.console : end.stderr).toMatchObject({ code: 0, signal: null })
  return { guest, connections: connectionsIn(lines) }
}

function connectionsIn(lines: readonly unknown[]): Connection[] {
  return (lines as readonly PrintedConnection[]).map(({ name, host, controller }) => ({
    ...{ name, host: pdusIn(host), controller: pdusIn(controller) },
  }))
}

function pdusIn(base64: string): Pdu[] {
  const stream = Buffer.from(base64, 'base64')
  const pdus: Pdu[] = []
  for (let at = 0; at < stream.length;) {
    const found = tcpPduParts(new DataView(stream.buffer, stream.byteOffset + at, stream.length - at))
    const bytes = stream.subarray(at, at + found.lengthBytes)
    pdus.push({ ...found, bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) })
    at += found.lengthBytes
  }
  return pdus
}
