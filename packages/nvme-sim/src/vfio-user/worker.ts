import { closeSync } from 'node:fs'
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { Diagnostics } from '../controller/diagnostics.js'
import { Namespaces } from '../nvm/namespaces.js'
import { DEFAULT_IDLE } from '../realtime/options.js'
import { WallClock } from '../realtime/wall-clock.js'
import { withMedia } from '../realtime/with-media.js'
import { attemptAll } from './attempt-all.js'
import { eventfdsOf } from './eventfds.js'
import { importVfioUserHost } from './import-host.js'
import type { Answer, Answers, Question } from './messages.js'
import type { VfioUserWorkerOptions } from './options.js'
import { ServedController } from './served-controller.js'
import { ServerLoop } from './server-loop.js'
import { serverStatisticsOf } from './statistics.js'
import { TraceFile } from './trace-file.js'

// The server's thread. It does not return to its event loop before it ends.

const options = workerData as VfioUserWorkerOptions
const port = parentPort!
const { profile, seed, faults, mappedDoorbells, wake } = options
const control = new Int32Array(options.control)
const host = await importVfioUserHost(options.module)
const clock = new WallClock()
const diagnostics = new Diagnostics(clock)
const namespaces = new Namespaces(options.namespaces.map((namespace) => withMedia(namespace, host)))
const trace = options.trace && new TraceFile(options.trace)
const served = new ServedController({
  ...{ host, clock, namespaces, profile, diagnostics, faults, seed, mappedDoorbells },
  eventfds: eventfdsOf(host),
  trace: trace?.sink,
})
const { device, controller } = served
const listener = host.listen(options.socket)
const loop = new ServerLoop({
  ...{ host, listener, control, wake, clock, diagnostics, answer },
  idle: DEFAULT_IDLE,
  welcome: () => served.welcome(),
})

// The error that ended the loop is reported first; a failing flush of one image does not skip the others or the trace.
attemptAll([
  () => tell('ready'),
  () => loop.run(),
  () => loop.close(),
  () => closeSync(listener),
  ...namespaces.allocated.flatMap(({ media }) => [
    () => {
      if (!media.readOnly) media.flush()
    },
    () => media.close(),
  ]),
  () => trace?.close(),
])

function tell(message: Answer): void {
  port.postMessage(message)
}

function answer(): void {
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port)) {
    const { id, ask } = next.message as Question
    tell({ id, value: answerTo(ask) })
  }
}

function answerTo(ask: keyof Answers): Answers[keyof Answers] {
  return ask === 'statistics' ? serverStatisticsOf(device, controller, loop) : diagnostics.entries
}
