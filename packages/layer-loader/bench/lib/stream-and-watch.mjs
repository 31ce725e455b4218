// Streams the model of an image through two slots, and prints how large the process was before and at most.
import { openImage, streamLayers } from '@gpunvme/layer-loader'
import { simulate } from '@gpunvme/nvme-sim'
import { fileMedia } from '@gpunvme/nvme-sim/file-media'
import { withController } from './demo-drive.mjs'

const media = fileMedia(process.argv[2], { readOnly: true })
const { transport } = simulate({ profile: 'sn740', namespaces: [{ media }] })
await withController(transport, {}, async (controller) => {
  const model = (await openImage(controller.namespace(1))).model()
  const beforeBytes = process.memoryUsage().rss
  const stream = streamLayers(model, { slots: 2 })
  let peakBytes = 0
  for await (const layer of stream) {
    peakBytes = Math.max(peakBytes, process.memoryUsage().rss)
    layer.release()
  }
  peakBytes = Math.max(peakBytes, process.resourceUsage().maxRSS * 1024)
  const { slotBytes } = stream.shape
  console.log(JSON.stringify({ beforeBytes, peakBytes, slotBytes, streamedBytes: stream.statistics.bytes }))
})
