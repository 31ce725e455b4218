import type { Controller, NamespaceIdentity } from '@gpunvme/host-driver'
import { CAP, countOf, IdentifyController, IdentifyNamespace, VS } from '@gpunvme/nvme-spec'
import type { Command } from 'commander'
import { withReader, withTransport } from '../drive/with-drive.js'
import { addOutputOptions, addTransportOptions, examples, type TransportFlags } from '../command-line/options.js'
import { Output, type OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import type { Session } from '../program.js'
import { formatBytes } from '../terminal/units.js'

type Flags = TransportFlags & OutputOptions

export function identify(command: Command, { signal }: Session): void {
  command.action((flags: Flags) => run(flags, new Output(flags), signal))
  addTransportOptions(command, 'a drive image to put behind the controller')
  addOutputOptions(command)
  examples(command, ['gpunvme identify', 'gpunvme identify --profile ideal --capacity 64GiB --json'])
}

async function run(flags: Flags, output: Output, signal: AbortSignal): Promise<void> {
  await withTransport(flags, 'read', (opened) => {
    signal.throwIfAborted()
    return withReader(opened, flags, ({ controller }) => {
      report(controller, output)
      return Promise.resolve()
    })
  })
}

function report(controller: Controller, output: Output): void {
  output.print(...describe(controller))
  output.object('gpunvme.identify/1', {
    controller: { ...facts(controller), fields: plain(IdentifyController, controller.identity.raw) },
    namespaces: controller.namespaces.map(({ identity }) => ({
      ...namespaceFacts(identity),
      fields: plain(IdentifyNamespace, identity.raw),
    })),
  })
}

function facts({ identity, registers, queues, queueDepth }: Controller) {
  const version = registers.read(VS)
  return {
    model: identity.model,
    serial: identity.serial,
    firmware: identity.firmware,
    version: [VS.MJR, VS.MNR, VS.TER].map((field) => field.of(version)).join('.'),
    maxTransferBytes: identity.maxTransferBytes,
    maxQueueEntries: countOf(CAP.MQES.of(registers.read(CAP))),
    volatileWriteCache: identity.volatileWriteCache,
    queues,
    queueDepth,
  }
}

function namespaceFacts({ nsid, blocks, blockBytes, unsupported }: NamespaceIdentity) {
  return { nsid, blocks, blockBytes, capacityBytes: blocks * blockBytes, unsupported }
}

function describe(controller: Controller): string[] {
  const { model, serial, firmware, version, maxTransferBytes, maxQueueEntries, volatileWriteCache } = facts(controller)
  const rows: [string, string][] = [
    ['model', printable(model)],
    ['serial number', printable(serial)],
    ['firmware', printable(firmware)],
    ['NVMe version', version],
    [
      'largest transfer',
      maxTransferBytes === undefined ? 'no limit (MDTS 0)' : `${formatBytes(maxTransferBytes)} (MDTS)`,
    ],
    ['queue entries', `up to ${maxQueueEntries} (CAP.MQES)`],
    [
      'write cache',
      volatileWriteCache ? 'volatile: writes are safe after Flush (VWC)' : 'none that Flush is needed for (VWC)',
    ],
  ]
  return [
    'Controller',
    ...rows.map(row),
    ...controller.namespaces.flatMap(({ identity }) => describeNamespace(identity)),
  ]
}

function describeNamespace(identity: NamespaceIdentity): string[] {
  const { nsid, blocks, blockBytes, capacityBytes, unsupported } = namespaceFacts(identity)
  const rows: [string, string][] = [
    ['capacity', `${formatBytes(capacityBytes)} (${capacityBytes} bytes)`],
    ['blocks', `${blocks} of ${blockBytes} bytes (NSZE, LBADS)`],
    ...(unsupported === undefined ? [] : ([['not usable', unsupported]] as [string, string][])),
  ]
  return ['', `Namespace ${nsid}`, ...rows.map(row)]
}

function row([label, value]: [string, string]): string {
  return `  ${label.padEnd(18)}${value}`
}

interface Declared {
  readonly fields: Readonly<Record<string, { kind: string; offset: number; lengthBytes: number }>>
  readonly view: (data: DataView) => object
}

/** Every declared field of a structure, as JSON can hold it: what is neither a number nor a text as its bytes. */
function plain({ fields, view }: Declared, raw: DataView): Record<string, unknown> {
  const values = view(raw) as Readonly<Record<string, unknown>>
  return Object.fromEntries(
    Object.entries(fields).map(([name, { kind, offset, lengthBytes }]) => {
      const value = values[name]
      if (kind === 'bytes' || kind === 'structs')
        return [name, Buffer.from(raw.buffer, raw.byteOffset + offset, lengthBytes).toString('hex')]
      return [name, value instanceof Uint32Array ? [...value] : value]
    }),
  )
}
