import { Controller, type Namespace, type WriteRequest } from '@gpunvme/host-driver'
import { refuseProtected } from '../block-io/protected-data.js'
import { writeRequest, withTransport } from '../drive/with-drive.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { BenchDrive, BenchResults } from '../report/bench-results.js'
import type { Output } from '../terminal/output.js'
import { settingOf, writes, type BenchFlags } from './bench-flags.js'
import { defaultEngines, participantsOf } from './participants.js'
import { driveOf, linkOf } from './results.js'
import { runBench, type Title } from './run-bench.js'
import type { Setting } from './setting.js'
import { trustedLink } from './trusted-link.js'

/** A drive and its data, examined before the measurement. */
interface Looked {
  readonly drive: BenchDrive
  readonly nsid: number
  readonly setting: Setting
  readonly write: WriteRequest | undefined
}

/** Measures engines on the drive of the flags. */
export function benchEngines(
  flags: BenchFlags,
  title: Title,
  output: Output,
  signal: AbortSignal,
): Promise<BenchResults> {
  const access = writes(flags) ? 'write' : 'read'
  return withTransport(flags, access, output, async (found) => {
    const { drive, nsid, setting, write } = await lookAt(found, flags, output, signal)
    const opened = { ...found, link: trustedLink(drive.model, found.link) }
    const engines = flags.engines ?? defaultEngines(opened)
    const participants = participantsOf(engines, flags.baselines ?? [], opened, { setting, nsid, write })
    const ground = {
      drive,
      transport: opened.name,
      time: opened.time,
      link: linkOf(opened.link),
      clock: opened.transport.clock,
      notes: notesOf(opened),
    }
    return runBench(ground, participants, setting, flags, title, output)
  })
}

/**
 * Identifies the drive and, before writes, checks its content. @throws errors of `refuseProtected` and `confirmDrive`.
 */
async function lookAt(
  opened: OpenedTransport,
  flags: BenchFlags,
  output: Output,
  signal: AbortSignal,
): Promise<Looked> {
  const write = writes(flags) ? await writeRequest(opened, flags, output, signal) : undefined
  const controller = await Controller.open(opened.transport)
  try {
    const nsid = flags.nsid ?? controller.namespaces[0]?.nsid ?? 1
    const namespace = controller.namespace(nsid)
    const setting = settingOf(flags, opened.time, namespace, signal)
    if (write !== undefined) await refuse(namespace, setting, flags)
    const { bdf } = opened.transport
    const known = {
      ...(opened.name === 'sim' && { profile: flags.profile ?? 'sn740' }),
      ...(bdf !== undefined && { address: bdf }),
    }
    return { drive: driveOf(controller, nsid, known), nsid, setting, write }
  } finally {
    await controller.close()
  }
}

async function refuse(namespace: Namespace, { span, signal }: Setting, flags: BenchFlags): Promise<void> {
  const { blockBytes } = namespace
  const range = { offsetBytes: span.firstBlock * blockBytes, lengthBytes: span.blocks * blockBytes }
  await refuseProtected(namespace, range, flags.overwrite ?? [], flags.image !== undefined, signal)
}

function notesOf({ name, time }: OpenedTransport): string[] {
  if (time === 'modelled') {
    return ['Times are modelled: they are predictions of the simulator, equal in every run, and not measurements.']
  }
  if (name === 'sim') {
    return [
      'The drive was simulated in real time by a thread of this process, which limits its speed; s/GB includes that thread.',
    ]
  }
  if (name === 'vfio-user') {
    return ['The drive is served by another program over a socket: the results include that program.']
  }
  return name === 'qtest' ? ['The drive is emulated by QEMU: the results measure QEMU.'] : []
}
