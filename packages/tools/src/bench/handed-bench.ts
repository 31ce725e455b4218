import type { Link } from '@gpunvme/nvme-spec/pcie'
import { callerOf, requireRoot } from '../command-line/advised-command.js'
import { driveFacts, type DriveFacts } from '../binding/drive-facts.js'
import { UsageError } from '../command-line/tools-error.js'
import { confirmChange } from '../drive/confirm-drive.js'
import type { FoundDrive } from '../drive/find-drive.js'
import type { EngineName } from '../drive/by-name.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { Session } from '../command-line/session.js'
import type { BenchResults, BenchSource } from '../report/bench-results.js'
import type { Output } from '../terminal/output.js'
import { BaselineContender } from './baseline-contender.js'
import { BASELINE_KINDS, BASELINES, missingBaseline, type BaselineKind } from './baselines.js'
import { settingOf, writes, type BenchFlags } from './bench-flags.js'
import type { Contender } from './contender.js'
import { EngineContender } from './engine-contender.js'
import { engineSource } from './engine-sources.js'
import { fioEngines } from './fio.js'
import { HandedDrive } from './handed-drive.js'
import { defaultEngines, engineMaker, missingEngine, withMissing, type Participants } from './participants.js'
import { wallClock } from './pause.js'
import { linkOf } from './results.js'
import { runBench, type Ground, type Title } from './run-bench.js'
import type { Setting } from './setting.js'

/** Parameters common to both sides. */
interface Measuring {
  readonly setting: Setting
  readonly nsid: number
  readonly link: Link | undefined
}

/**
 * Measures engines and baselines in alternation: the drive is bound to our driver for the former, and to Linux's for
 * the latter.
 */
export async function benchHandedOver(
  found: FoundDrive,
  flags: BenchFlags,
  title: Title,
  output: Output,
  session: Session,
): Promise<BenchResults> {
  const { signal } = session
  if (writes(flags)) throw new UsageError('--hand-over requires reads', { next: 'omit --hand-over, or use --rw read' })
  requireRoot('/', session)
  const confirmed = await confirm(found, flags, output, signal)
  const onLost = (message: string) => output.error(message)
  const lent = {
    found,
    confirmed,
    nsid: flags.nsid,
    by: callerOf(session),
    signal,
    onLost,
    invocation: output.invocation,
  }
  return HandedDrive.lend(lent, async (handed) => {
    const { ground, setting, nsid, link } = await handed.withLinux((target) =>
      Promise.resolve({
        nsid: target.nsid ?? 1,
        link: target.link,
        setting: settingOf(flags, 'wall', target.drive, signal),
        ground: {
          drive: target.drive,
          transport: 'kernel',
          time: 'wall' as const,
          link: linkOf(target.link),
          clock: wallClock,
          notes: [
            "The drive alternated between Linux's driver and ours: engines and baselines never ran at the same time.",
          ],
        } satisfies Ground,
      }),
    )
    const participants = await participantsOf(handed, flags, { setting, nsid, link })
    const ours = await handed.withOurs((opened) => Promise.resolve(opened.name))
    return runBench({ ...ground, transport: `${ours}, kernel` }, participants, setting, flags, title, output)
  })
}

async function confirm(
  { bdf }: FoundDrive,
  flags: BenchFlags,
  output: Output,
  signal: AbortSignal,
): Promise<DriveFacts> {
  const facts = driveFacts('/', bdf)
  const { serial, model } = facts
  const description = model ?? 'a drive of unknown model'
  await confirmChange({ bdf, serial: serial ?? undefined, description, change: 'take over' }, flags, output, signal)
  return facts
}

async function participantsOf(handed: HandedDrive, flags: BenchFlags, measure: Measuring): Promise<Participants> {
  const { setting } = measure
  const fio = await fioEngines(setting.signal)
  const baselines = (flags.baselines ?? BASELINES).map((name) => ({
    kind: BASELINE_KINDS[name],
    missing: missingBaseline(name, fio, '/'),
  }))
  const engines = await handed.withOurs((opened) =>
    Promise.resolve(
      (flags.engines ?? defaultEngines(opened)).map((name) => ({ name, missing: missingEngine(name, opened) })),
    ),
  )
  return {
    contenders: [
      ...engines.filter(({ missing }) => missing === undefined).map(({ name }) => engineInTurn(name, handed, measure)),
      ...baselines
        .filter(({ missing }) => missing === undefined)
        .map(({ kind }) => baselineInTurn(kind, handed, setting)),
    ],
    sources: [
      ...engines.map(({ name, missing }) => withMissing(engineSource(name), missing)),
      ...baselines.map(({ kind, missing }) => withMissing(kind.source, missing)),
    ] satisfies BenchSource[],
  }
}

function engineInTurn(name: EngineName, handed: HandedDrive, { setting, nsid, link }: Measuring): Contender {
  const contender = (opened: OpenedTransport) =>
    new EngineContender({ name, opened: { ...opened, link }, setting, nsid, makeEngine: engineMaker(name) })
  return {
    source: engineSource(name),
    measure: (shape, withTimeline) => handed.withOurs((opened) => contender(opened).measure(shape, withTimeline)),
  }
}

function baselineInTurn(kind: BaselineKind, handed: HandedDrive, setting: Setting): Contender {
  return {
    source: kind.source,
    measure: (shape) =>
      handed.withLinux(({ path, drive, link, smartLog }) =>
        new BaselineContender({ kind, path, blockBytes: drive.blockBytes, setting, link, smartLog }).measure(shape),
      ),
  }
}
