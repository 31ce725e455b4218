import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, test } from 'vitest'
import { LOAD_CHANNEL, type LoadEvent } from '../../src/index.js'
import { smallRig } from './small-rig.js'

test('events of reads and of copies differ in their store', async () => {
  const { open, planFor } = await smallRig([65_536, 65_536])
  await using model = await open(planFor(['nvme']))
  const ready: string[] = []
  const listen = (message: unknown) => {
    const { kind, store, extent } = message as LoadEvent
    if (kind === 'ready') ready.push(`${extent} from ${store}`)
  }
  subscribe(LOAD_CHANNEL, listen)
  try {
    for await (const layer of model.pass({ isLast: true })) layer.release()
  } finally {
    unsubscribe(LOAD_CHANNEL, listen)
  }
  expect(ready.sort()).toEqual(
    ['layer 0', 'layer 1'].flatMap((layer) => [`${layer} from host memory`, `${layer} from namespace 1`]),
  )
})
