// Serves a drive in a process of its own, for tests that stop and kill it: the first message has the options.
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { startVfioUserServer } from '@gpunvme/nvme-sim/vfio-user'

// Whoever started this has ended.
process.on('disconnect', () => process.exit())
process.once('message', async (options) => {
  await startVfioUserServer({ .../** @type {{ socket: string }} */ (options), module: nativeHostModule })
  process.send?.('ready')
})
