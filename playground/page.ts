import { profiles, type ProfileName } from '@gpunvme/nvme-sim'
import { drawChart, moveNow } from './chart.js'
import { element } from './element.js'
import { eventsOf } from './events.js'
import { fillForm, readForm } from './form.js'
import { commandSize, rate, size, time } from './format.js'
import { Replay } from './replay.js'
import { runDrive, type DriveRun } from './run-drive.js'
import { runLoader, type LoaderRun } from './run-loader.js'
import { faults, type Settings } from './settings.js'

const form = element('settings') as HTMLFormElement
const chart = element('chart')
const replay = new Replay((part) => moveNow(chart, part, chart.clientWidth))

/** The newest run; an older one that ends later is dropped. */
let newest = 0
let shown: DriveRun | undefined

async function run(settings: Settings): Promise<void> {
  const number = ++newest
  element('status').textContent = 'Simulating'
  document.body.dataset['state'] = 'running'
  try {
    const drive = await runDrive(settings)
    const loader = await runLoader(settings)
    if (number !== newest) return
    show(settings, drive, loader)
    document.body.dataset['state'] = 'done'
  } catch (error) {
    if (number !== newest) return
    element('status').textContent = `Error: ${error instanceof Error ? error.message : String(error)}`
    document.body.dataset['state'] = 'failed'
  }
}

function show(settings: Settings, drive: DriveRun, loader: LoaderRun): void {
  shown = drive
  const { bytesPerSecond, payloadLimit, commandLimit, commands, commandBytes, endNs, startNs } = drive
  const limited = commandBytes < settings.commandBytes ? ' (MDTS)' : ''
  const reads = `${drive.bytes / commandBytes} of ${commands} reads of ${commandSize(commandBytes)}${limited}`
  element('status').textContent = `${reads} completed in ${time(endNs - startNs)} of virtual time`
  set('throughput', rate(bytesPerSecond), bytesPerSecond)
  set('share', `${((bytesPerSecond / payloadLimit) * 100).toFixed(1)} % of the payload limit, recovery included`)
  set('limit', rate(payloadLimit), payloadLimit)
  set('overhead', `${rate(commandLimit)} where every read has a PRP list and doorbells of its own`, commandLimit)
  showOutcome(settings, drive)
  set('token', `${loader.secondsPerToken.toFixed(loader.secondsPerToken < 10 ? 2 : 1)} s`, loader.secondsPerToken)
  const sample = `${loader.sampleLayers} layers of ${size(loader.sampleLayerBytes)}`
  set('sample', `${size(loader.modelBytes)} at ${rate(loader.sampleBytesPerSecond)}, the rate of a sample of ${sample}`)
  set('source', profiles[settings.drive].source)
  set('deadline', time(drive.deadlineNs))
  element('events').replaceChildren(...eventsOf(settings.fault, drive).map(({ atNs, text }) => eventLine(atNs, text)))
  draw()
  replay.load(drive)
}

function showOutcome({ fault }: Settings, { faultNs, failure, events }: DriveRun): void {
  const outcome = element('outcome')
  const isLost = failure !== undefined
  const state = fault === 'none' ? 'none' : isLost ? 'lost' : 'recovered'
  outcome.textContent = { none: 'No fault', lost: 'Drive lost', recovered: 'Recovered' }[state]
  outcome.dataset['value'] = state
  outcome.className = { none: '', lost: 'bad', recovered: 'good' }[state]
  const steps = events.flatMap((event) =>
    event.kind === 'recovery' && event.result === 'succeeded' ? [event.step] : [],
  )
  const how = isLost
    ? 'reads end as failed; none waits forever'
    : steps.length > 0
      ? `by ${steps.join(', ')}`
      : 'by the retry of the read'
  const slower = fault === 'throttle' ? 'slower, and no read is lost' : how
  set('recovery', faultNs === undefined ? 'choose a fault to see a recovery' : `${faults[fault].label}; ${slower}`)
}

function set(id: string, text: string, value?: number): void {
  const target = element(id)
  target.textContent = text
  if (value !== undefined) target.dataset['value'] = String(value)
}

function eventLine(atNs: number, text: string): HTMLElement {
  const line = document.createElement('li')
  const at = document.createElement('time')
  at.textContent = time(atNs)
  const what = document.createElement('span')
  what.textContent = text
  line.append(at, what)
  return line
}

function draw(): void {
  if (shown === undefined) return
  chart.innerHTML = drawChart(shown, Math.max(300, chart.clientWidth))
  const { bytesPerSecond, payloadLimit } = shown
  chart.setAttribute(
    'aria-label',
    `Throughput and commands in flight: ${rate(bytesPerSecond)} on average, payload limit ${rate(payloadLimit)}`,
  )
  replay.show()
}

function runForm(): void {
  const settings = readForm(form)
  if (settings !== undefined) void run(settings)
}

fillForm(form, Object.keys(profiles) as ProfileName[], new URLSearchParams(location.hash.slice(1)))
form.addEventListener('change', runForm)
form.addEventListener('submit', (event) => event.preventDefault())
new ResizeObserver(draw).observe(chart)
runForm()
