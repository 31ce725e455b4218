// Serves a drive in a separate process, for tests that stop or kill it. The first message contains the options.
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { startVfioUserServer } from '@gpunvme/nvme-sim/vfio-user'

// The parent process has ended.
process.on('disconnect', () => process.exit())
process.once('message', async (options) => {
  await startVfioUserServer({ .../** @type {{ socket: string }} */ (options), module: nativeHostModule })
  process.send?.('ready')
})
