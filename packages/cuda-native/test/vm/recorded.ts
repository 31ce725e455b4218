import { tcpPduParts, type TcpPduParts } from '@gpunvme/nvme-spec/fabrics'

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

/** Returns the connections that a program of `fabrics/` printed. */
export function connectionsIn(lines: readonly unknown[]): Connection[] {
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
