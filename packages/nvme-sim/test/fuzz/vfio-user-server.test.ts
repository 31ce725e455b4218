import { closeSync, openSync, readdirSync } from 'node:fs'
import { fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import type { Dice } from '../../../../test/fuzz/mutator.js'
import { DirectClient } from '../vfio-user/direct-client.js'
import { another, unnamedFile } from '../vfio-user/fake-host.js'
import { FILE_PAGES, PAGE, RandomClient, WRITABLE } from '../vfio-user/random-client.js'

const MESSAGES = 1000
const PATTERN = 0xa5

const openDescriptors = () => readdirSync('/proc/self/fd').length

/**
 * Sends messages that are nearly valid, invalid in one field, or noise. The server must answer each message that expects a
 * reply, change only memory mapped for writing, and keep no descriptor.
 * @returns whether commands were executed.
 */
function serve(dice: Dice): string {
  const random = new RandomClient(dice)
  const client = new DirectClient({ seed: dice.int(1, 2 ** 31) }).agree()
  const descriptors = openDescriptors()
  const file = unnamedFile(FILE_PAGES * PAGE)
  const memory = client.memory.bytesOf(file)
  memory.fill(PATTERN)
  const { message } = client as unknown as { message: { descriptors: number[]; closeDescriptors(): void } }
  const closeReal = message.closeDescriptors.bind(message)
  // Descriptors of the fake are not descriptors of this process.
  message.closeDescriptors = () => {
    message.descriptors.splice(0, Infinity, ...message.descriptors.filter((each) => each < 1000))
    closeReal()
  }
  for (let i = 0; i < MESSAGES; i++) {
    if (random.below(2) === 0) random.scribble(memory)
    const { command, data, flags, beside, count } = random.next()
    const given = Array.from({ length: beside === undefined ? 0 : count }, () => {
      if (beside === 'eventfds') return client.eventfds.make()[0]!
      return beside === 'memory' ? another(file) : openSync('/', 'r')
    })
    const answer = client.send(command, data, given, flags)
    const isWanted = (flags & 0x10) === 0
    if ((answer !== undefined) !== isWanted) throw new Error(`message ${i}, command ${command}: answered ${!isWanted}`)
    if (answer !== undefined && answer.errno !== 0 && answer.data.byteLength > 0)
      throw new Error(`message ${i}, command ${command}: a refusal with ${answer.data.byteLength} bytes of data`)
    client.run()
    if (client.session.end !== undefined || random.below(500) === 0) {
      client.reconnect()
      client.agree()
    }
  }
  const { admin, io } = client.served.device.counters
  const completed = [...admin, ...io].reduce((sum, count) => sum + count, 0)
  client.leave()
  closeSync(file)
  if (openDescriptors() !== descriptors) throw new Error('descriptors stay open')
  if (client.memory.mapped.size > 0) throw new Error('memory stays mapped')
  const kept = [memory.subarray(0, WRITABLE.first * PAGE), memory.subarray(WRITABLE.end * PAGE)]
  if (!kept.every((part) => part.every((byte) => byte === PATTERN)))
    throw new Error('memory that is not mapped for writing has changed')
  return completed > 0 ? 'commands completed' : 'no command completed'
}

testFuzzer(fuzzer('vfio-user-server', serve), 40, ['commands completed'])
