import { deriveProfile } from '../src/profiles/index.js'
import type { DriveProfile } from '../src/profiles/profile.js'
import type { PublishedPoint, Workload } from '../src/profiles/published.js'
import { CalibrationHost } from './host.js'

const MIB = 1024 * 1024

/** Returns the simulator's value of a published point, in the point's unit. */
export async function measure(profile: DriveProfile, { unit, workload }: PublishedPoint): Promise<number> {
  const drive = workload.isHot ? alwaysHot(profile) : profile
  switch (unit) {
    case 'MiB/s':
      return ((await commandRate(drive, workload)) * workload.blockBytes) / MIB
    case 'MB/s':
      return ((await commandRate(drive, workload)) * workload.blockBytes) / 1e6
    case 'commands/s':
      return commandRate(drive, workload)
    case 'µs mean':
      return (await steady(drive, workload)).latencyNs / 1e3
    case 'ms':
      return (await durationNs(drive, workload, workload.commands!)) / 1e6
    case 's until hot':
      return (await untilHotNs(drive, workload)) / 1e9
  }
}

async function commandRate(profile: DriveProfile, workload: Workload): Promise<number> {
  const { commands } = workload
  if (commands !== undefined) return commands / ((await durationNs(profile, workload, commands)) / 1e9)
  return 1e9 / (await steady(profile, workload)).intervalNs
}

/** Returns the mean time between completions and the mean latency in the steady state. */
export async function steady(
  profile: DriveProfile,
  workload: Workload,
): Promise<{ intervalNs: number; latencyNs: number }> {
  const { depth } = workload
  const host = await CalibrationHost.open(profile, workload)
  const submittedNs = new Float64Array(0x1_0000)
  let submitted = 0
  let completed = 0
  let latencyNs = 0
  const run = async (until: number) => {
    while (completed < until) {
      for (; submitted - completed < depth; submitted++) {
        await host.submit()
        submittedNs[submitted & 0xffff] = host.clock.now()
      }
      completed += await host.collect((cid) => (latencyNs += host.clock.now() - submittedNs[cid]!))
    }
  }
  await run(3 * depth + 100)
  const [from, fromNs] = [completed, host.clock.now()]
  latencyNs = 0
  await run(from + 4 * depth + 4000)
  const counted = completed - from
  return { intervalNs: (host.clock.now() - fromNs) / counted, latencyNs: latencyNs / counted }
}

/** Returns the time from the first submission to the last completion. */
async function durationNs(profile: DriveProfile, workload: Workload, commands: number): Promise<number> {
  const host = await CalibrationHost.open(profile, workload)
  const fromNs = host.clock.now()
  let submitted = 0
  for (let completed = 0; completed < commands;) {
    for (; submitted < commands && submitted - completed < workload.depth; submitted++) await host.submit()
    completed += await host.collect(() => undefined)
  }
  return host.clock.now() - fromNs
}

/** Returns the time at full rate, from cold, until 100 commands take 25 % longer than the second 100 commands. */
async function untilHotNs(profile: DriveProfile, workload: Workload): Promise<number> {
  const host = await CalibrationHost.open(profile, workload)
  const startNs = host.clock.now()
  let submitted = 0
  let completed = 0
  const hundred = async () => {
    const [from, fromNs] = [completed, host.clock.now()]
    while (completed - from < 100) {
      for (; submitted - completed < workload.depth; submitted++) await host.submit()
      completed += await host.collect(() => undefined)
    }
    return (host.clock.now() - fromNs) / (completed - from)
  }
  await hundred()
  const coolNs = await hundred()
  const longestNs = 600e9
  while ((await hundred()) < 1.25 * coolNs) {
    if (host.clock.now() - startNs > longestNs) throw new Error(`${profile.name}: not throttled after ten minutes`)
  }
  return host.clock.now() - startNs
}

/** Returns the same drive, but throttled from its first byte. */
function alwaysHot(profile: DriveProfile): DriveProfile {
  const { thermal } = profile
  if (thermal === undefined) throw new TypeError(`${profile.name}: the drive has no thermal model`)
  return deriveProfile(profile, {
    thermal: { factor: thermal.factor, limitBytes: 1, recoveredBytes: 0, coolingBytesPerSecond: 0 },
  })
}
