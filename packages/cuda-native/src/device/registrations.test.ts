import { expect, onTestFinished, test } from 'vitest'
import { openDrive, openQueues } from '../../test/device-rig.js'
import { native } from '../../test/native.js'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { Registrations } from './registrations.js'

const standin = useStandin()

test.skipIf(!hasStandin)(
  `two buffers of one memory share its registration until both are freed${skippedWithoutStandin}`,
  async () => {
    const { queues } = openQueues(standin)
    const { engine, namespace } = await openDrive(queues)
    const device = await queues.device([{ engine, namespace }])
    const memory = namespace.dma.alloc(8192)
    const before = standin.live().registered
    const [first, second] = [engine.buffer(memory), engine.buffer(memory)]
    expect(second.gpuPointer).toBe(first.gpuPointer)
    expect(standin.live().registered).toBe(before + 1)
    first.free()
    expect(standin.live().registered).toBe(before + 1)
    second.free()
    expect(standin.live().registered).toBe(before)
    memory.free()
    device.free()
  },
)

test.skipIf(!hasStandin)(`memory in a registered page keeps the registration${skippedWithoutStandin}`, () => {
  const { cuda } = openQueues(standin)
  const region = native.allocate(8192, 4096)
  onTestFinished(() => region.unmap())
  const registrations = new Registrations(cuda)
  const first = registrations.reach(region.address, 512, 'memory')
  const second = registrations.reach(region.address + 1024n, 512, 'memory')
  expect(second.gpuPointer).toBe(first.gpuPointer + 1024n)
  registrations.end(first)
  expect(standin.live().registered).toBe(1)
  registrations.end(second)
  expect(standin.live().registered).toBe(0)
})

test.skipIf(!hasStandin)(`memory that its owner registered stays registered${skippedWithoutStandin}`, () => {
  const { cuda } = openQueues(standin)
  const region = native.allocate(4096, 4096)
  onTestFinished(() => region.unmap())
  const owned = cuda.register(region.address, 4096)
  const registrations = new Registrations(cuda)
  const reached = registrations.reach(region.address, 4096, 'memory')
  expect(reached.gpuPointer).toBe(owned.gpuPointer)
  registrations.end(reached)
  expect(standin.live().registered).toBe(1)
  owned.unregister()
})
