import type { SmartLog } from '@gpunvme/host-driver'
import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { BenchDrive, BenchResults } from '../report/bench-results.js'
import type { Output } from '../terminal/output.js'
import { BaselineContender } from './baseline-contender.js'
import { BASELINE_KINDS, BASELINES, missingBaseline } from './baselines.js'
import { settingOf, type BenchFlags } from './bench-flags.js'
import { engineSource } from './engine-sources.js'
import { fioEngines } from './fio.js'
import { withMissing, type Participants } from './participants.js'
import { wallClock } from './pause.js'
import { linkOf } from './results.js'
import { runBench, type Title } from './run-bench.js'
import type { Setting } from './setting.js'

/** Target of baselines: a block device of the kernel, or a file. */
export interface BaselineTarget {
  readonly path: string
  readonly transport: 'kernel' | 'file'
  readonly drive: BenchDrive
  /** Namespace of the block device; undefined for a file. */
  readonly nsid?: number
  readonly link: Link | undefined
  /** Reads the drive's SMART log; undefined for a file. */
  readonly smartLog: (() => Promise<SmartLog>) | undefined
  readonly notes: readonly string[]
}

/** Measures the kernel's I/O paths to a drive that is bound to Linux's driver, or to a file. */
export async function benchBaselines(
  target: BaselineTarget,
  flags: BenchFlags,
  title: Title,
  output: Output,
  signal: AbortSignal,
): Promise<BenchResults> {
  const { drive, transport, link, notes } = target
  const setting = settingOf(flags, 'wall', drive, signal)
  const participants = await participantsOf(target, flags, setting)
  const ground = { drive, transport, time: 'wall' as const, link: linkOf(link), clock: wallClock, notes }
  return runBench(ground, participants, setting, flags, title, output)
}

async function participantsOf(
  { path, drive, link, smartLog, transport }: BaselineTarget,
  { engines = [], baselines = BASELINES }: BenchFlags,
  setting: Setting,
): Promise<Participants> {
  const { blockBytes } = drive
  const available = await fioEngines(setting.signal)
  const found = baselines.map((name) => ({
    kind: BASELINE_KINDS[name],
    missing: missingBaseline(name, available, '/'),
  }))
  const noEngine =
    transport === 'file'
      ? { reason: 'engines require a controller, not a file' }
      : {
          reason: "the drive is bound to Linux's driver",
          next: 'use --hand-over, which alternates drivers; or run two benchmarks with -o, the second while the drive is bound to gpunvme, and join them with --merge',
        }
  return {
    contenders: found
      .filter(({ missing }) => missing === undefined)
      .map(({ kind }) => new BaselineContender({ kind, path, blockBytes, setting, link, smartLog })),
    sources: [
      ...engines.map((name) => withMissing(engineSource(name), noEngine)),
      ...found.map(({ kind, missing }) => withMissing(kind.source, missing)),
    ],
  }
}
