// Serves a drive in a process of its own, for tests that kill it and for figures of what it costs: the first message has the
// options, 'statistics' is answered with what was counted and with the processor time of this process.
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { startVfioUserServer } from '@gpunvme/nvme-sim/vfio-user'

let server
// Whoever started this has ended.
process.on('disconnect', () => process.exit())
process.on('message', async (message) => {
  if (message === 'statistics') {
    process.send({ statistics: await server.statistics(), cpuMicroseconds: process.cpuUsage() })
  } else if (message === 'close') {
    await server.close()
    process.disconnect()
  } else {
    server = await startVfioUserServer({ ...message, module: nativeHostModule })
    process.send('ready')
  }
})
