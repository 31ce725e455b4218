import { cudaStatus } from '@gpunvme/cuda-native'
import type { HeldDrive } from '../binding/bind-held.js'
import type { DriveFlags } from '../command-line/options.js'
import type { Session } from '../command-line/session.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { Facts } from '../doctor/facts.js'
import { askProcess } from '../doctor/live.js'
import { examine } from '../doctor/report/examine.js'
import type { FoundDrive } from '../drive/find-drive.js'
import { nameOpened } from '../drive/named-drive.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import { causeOf, openTraced } from '../drive/with-drive.js'
import type { FindReach } from '../rig/reach.js'
import type { Output } from '../terminal/output.js'
import { formatBytes } from '../terminal/units.js'
import { bindDrive, restoreDrive, type BindFlags } from './bind-steps.js'
import { identifyDrive, readByCpu } from './drive-steps.js'
import type { Reference } from './extents.js'
import { probeDoorbell, readByGpu, requireCuda } from './gpu-steps.js'
import { machineFacts, type MachineFacts } from './machine-facts.js'
import { loadModel, probeTier } from './memory-steps.js'
import { readFromImage, readFromLinux, reportReference } from './outside-reads.js'
import type { Secrets } from './redact.js'
import type { FirstLightReport, StepFacts } from './report.js'
import { SkippedStep, type Sequence, type StepBody } from './sequence.js'

export interface RunFlags extends DriveFlags, BindFlags {
  readonly gpu?: number
  readonly staticBar1?: boolean
}

export interface RunParts {
  readonly flags: RunFlags
  /** The drive on this machine's bus; undefined for a simulated or served one. */
  readonly drive: FoundDrive | undefined
  readonly facts: Pick<Facts, 'machine' | 'nvidia'>
  readonly report: FirstLightReport
  readonly sequence: Sequence
  /** Registers values to remove from the report. */
  readonly addSecrets: (secrets: Partial<Secrets>) => void
  /** Registers a message to print at the end of the command. */
  readonly warn: (message: string) => void
  readonly output: Output
  readonly session: Session
  /** For tests. */
  readonly open?: () => Promise<OpenedTransport>
  readonly findReach?: FindReach
}

/** Runs all steps. Always tries to close the drive and return it to Linux's driver; a failure is left to the watcher. */
export async function runSteps(parts: RunParts): Promise<void> {
  const { flags, drive, report, sequence, addSecrets, warn, output, session, findReach } = parts
  const { signal } = session
  const { gpu, staticBar1 } = report
  const { nsid } = flags
  let reference: Reference | undefined
  let held: HeldDrive | undefined
  let opened: OpenedTransport | undefined
  let isBinding = false
  const onDrive = (use: (opened: OpenedTransport, record: (facts: StepFacts) => void) => Promise<string>): StepBody => {
    return async (record) => {
      try {
        return await use(opened!, record)
      } catch (error) {
        throw causeOf(error, opened!)
      }
    }
  }
  const onGpu: typeof onDrive = (use) => {
    return onDrive((each, record) => {
      requireCuda(gpu, report)
      return use(each, record)
    })
  }
  const settings = { gpu, nsid, staticBar1, signal, addSecrets, ...(findReach !== undefined && { findReach }) }
  const needs = ['identify'] as const

  try {
    await sequence.run('machine', (record) => Promise.resolve(examineMachine(parts, record)))
    await sequence.run('reference', async (record) => {
      reference = await readOutside(parts)
      return reportReference(reference, record)
    })
    await sequence.run('bind', async (record) => {
      if (drive === undefined) throw new SkippedStep('only drives on the bus of this machine are bound')
      const bound = await bindDrive(drive, flags, { output, session, onConfirmed: () => (isBinding = true) }, record)
      held = bound.held
      return bound.text
    })
    await sequence.run(
      'identify',
      async (record) => {
        const { open = () => openTraced({ ...flags, ...(drive && { drive: drive.bdf }) }, 'read') } = parts
        opened = await open()
        report.drive = nameOpened(opened, flags).facts
        const expected = drive && { bdf: drive.bdf, serial: flags.serial }
        return onDrive(({ transport }) => identifyDrive(transport, expected, addSecrets, record))(record)
      },
      { needs: ['bind'] },
    )
    await sequence.run(
      'read-cpu',
      onDrive(async ({ transport }, record) => {
        const read = await readByCpu(transport, nsid, reference, signal, record)
        reference = read.reference
        return read.text
      }),
      { needs },
    )
    await sequence.run(
      'doorbell',
      onGpu(({ transport }, record) => probeDoorbell(transport, gpu, signal, record)),
      { needs },
    )
    for (const doorbells of ['gpu', 'cpu'] as const) {
      await sequence.run(
        `read-${doorbells}-doorbell`,
        onGpu(({ transport }, record) => readByGpu(transport, { gpu, doorbells, reference }, signal, record)),
        { needs: doorbells === 'gpu' ? ['identify', 'doorbell'] : needs },
      )
    }
    await sequence.run(
      'tier',
      onGpu(({ transport }, record) => probeTier(transport, settings, record)),
      { needs },
    )
    await sequence.run(
      'load',
      onDrive((each, record) => loadModel(each, settings, output, record)),
      { needs },
    )
  } finally {
    await returnDrive()
  }

  async function returnDrive(): Promise<void> {
    const restore: StepBody = async (record) => {
      const [closing] = await Promise.allSettled([opened?.close()])
      const isBound = held?.entry !== undefined
      const hasBindFailed = isBinding && held === undefined
      if (closing.status === 'rejected' && !isBound) throw closing.reason
      if (drive === undefined || (!isBound && !hasBindFailed))
        throw new SkippedStep('this command did not bind the drive')
      const text = await restoreDrive(held, drive, reference, record)
      if (closing.status === 'rejected') throw closing.reason
      return text
    }
    try {
      await sequence.run('restore', restore, { isFinal: true })
    } finally {
      // Ends the watcher of a drive that was already bound, too.
      await held?.release().catch(() => {
        warn(`${drive!.bdf} is not yet returned to its driver: ${output.invocation.program} unbind ${drive!.bdf}`)
      })
    }
  }
}

function examineMachine({ drive, report, facts: { machine, nvidia } }: RunParts, record: (facts: StepFacts) => void) {
  const facts = { machine, nvidia, process: askProcess() }
  const status = cudaStatus()
  const gpus = machine.gpus.filter(({ vendor }) => vendor === 'NVIDIA')
  const gpu = status.available ? status.devices[report.gpu]?.bdf : gpus[report.gpu]?.address
  const only = [gpu, drive?.bdf].flatMap((each) => each ?? [])
  const found = machineFacts(examine(facts, { only }), gpu, drive?.bdf)
  record({ machine: found })
  return describeMachine(found)
}

function describeMachine({ board, gpu, kernel, nvidia, iommu, best }: MachineFacts): string {
  const model = gpu === null ? 'no GPU' : (gpu.model ?? 'unknown GPU')
  const window = gpu?.windowBytes == null ? '' : ` (BAR1 ${formatBytes(gpu.windowBytes)})`
  const driver = nvidia === null ? '' : `NVIDIA ${nvidia.version ?? 'unknown'} (${nvidia.flavour ?? 'unknown'})`
  const route = best === null ? '' : `best route ${best.route}: ${best.readiness}`
  const parts = [
    board ?? 'unknown board',
    `${model}${window}`,
    `Linux ${kernel ?? 'unknown'}`,
    driver,
    `IOMMU ${iommu}`,
  ]
  return [...parts, route].filter((part) => part !== '').join(', ')
}

/** Reads the extents without this package's driver. @throws SkippedStep if that is not possible */
async function readOutside({ flags, drive, session }: RunParts): Promise<Reference> {
  const { image, nsid } = flags
  if (image !== undefined) return readFromImage(image)
  if (drive === undefined) throw new SkippedStep('Linux cannot read this drive: reads by the CPU become the reference')
  const { bdf, linuxName } = drive
  const none = new SkippedStep('Linux has no block device of the drive: reads by the CPU become the reference')
  if (linuxName === undefined) throw none
  try {
    return await readFromLinux({ bdf, linuxName }, nsid, session.signal)
  } catch (error) {
    throw error instanceof ToolsError && error.code === 'ERR_GPUNVME_NO_BLOCK_DEVICE' ? none : error
  }
}
