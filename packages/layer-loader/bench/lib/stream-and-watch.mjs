// Streams the model of an image through two slots, and prints the resident memory before and at its peak.
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
  const seen = []
  for await (const layer of stream) {
    seen.push(process.memoryUsage().rss)
    layer.release()
  }
  const peakBytes = process.resourceUsage().maxRSS * 1024
  // Growth between the first and the last quarter of the layers, which would continue with a larger model.
  const quarter = seen.length / 4
  const growthBytes = Math.max(...seen.slice(-quarter)) - Math.max(...seen.slice(0, quarter))
  const { slotBytes } = stream.shape
  console.log(
    JSON.stringify({ beforeBytes, peakBytes, growthBytes, slotBytes, streamedBytes: stream.statistics.bytes }),
  )
})
