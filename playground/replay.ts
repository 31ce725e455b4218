import { element } from './element.js'
import { time } from './format.js'
import type { DriveRun } from './run-drive.js'
import type { QueueState } from './timeline.js'

/** Length of a replay on the user's clock. */
const REPLAY_MS = 8000

/** Cells of a queue at most; a deeper queue has several entries to a cell. */
const MAX_CELLS = 64

/** Shows the queues at a time of the run, by the slider or by playing. */
export class Replay {
  private readonly onTime: (part: number) => void
  private readonly slider = element('time') as HTMLInputElement
  private readonly button = element('play')
  private run: DriveRun | undefined
  private frame: number | undefined

  /** @param onTime is called with the shown part of the run, 0 to 1. */
  constructor(onTime: (part: number) => void) {
    this.onTime = onTime
    this.slider.addEventListener('input', () => {
      this.stop()
      this.show()
    })
    this.button.addEventListener('click', () => (this.frame === undefined ? this.play() : this.stop()))
  }

  /** Takes a run, and plays it unless the user prefers less motion. */
  load(run: DriveRun): void {
    this.run = run
    const cells = Math.min(MAX_CELLS, run.queueDepth)
    for (const id of ['sq-cells', 'drive-cells', 'cq-cells']) {
      element(id).replaceChildren(...Array.from({ length: cells }, () => document.createElement('i')))
    }
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) this.showPart(0.5)
    else this.play()
  }

  show(): void {
    const { run } = this
    if (run === undefined) return
    const part = Number(this.slider.value) / 1000
    const atNs = run.startNs + part * (run.endNs - run.startNs)
    const { submitted, inDrive, posted } = stateAt(run.states, atNs)
    this.fill('sq', submitted, run.queueDepth)
    this.fill('drive', inDrive, run.queueDepth)
    this.fill('cq', posted, run.queueDepth)
    element('clock').textContent = time(atNs - run.startNs)
    this.onTime(part)
  }

  private showPart(part: number): void {
    this.slider.value = String(Math.round(part * 1000))
    this.show()
  }

  private fill(id: string, count: number, depth: number): void {
    element(id).textContent = `${count} of ${depth}`
    const { children } = element(`${id}-cells`)
    const on = Math.ceil((count / depth) * children.length)
    for (let index = 0; index < children.length; index++) children[index]!.className = index < on ? 'on' : ''
  }

  private play(): void {
    this.stop()
    const startMs = performance.now()
    this.button.textContent = 'Pause'
    const step = () => {
      const part = Math.min(1, (performance.now() - startMs) / REPLAY_MS)
      this.showPart(part)
      if (part < 1) this.frame = requestAnimationFrame(step)
      else this.stop()
    }
    step()
  }

  private stop(): void {
    if (this.frame !== undefined) cancelAnimationFrame(this.frame)
    this.frame = undefined
    this.button.textContent = 'Replay'
  }
}

const EMPTY: QueueState = { timeNs: 0, submitted: 0, inDrive: 0, posted: 0, completed: 0 }

/** The state at a time: the last one that began before it. */
function stateAt(states: readonly QueueState[], atNs: number): QueueState {
  let low = 0
  let high = states.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (states[middle]!.timeNs <= atNs) low = middle + 1
    else high = middle
  }
  return states[low - 1] ?? EMPTY
}
