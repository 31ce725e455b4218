import { addDriveOptions, whole } from '../command-line/options.js'
import { verb, type Context } from '../command-line/verb.js'
import { addTakingOptions } from '../drive/plan-taking.js'
import { runFirstLight, type FirstLightFlags } from '../first-light/first-light.js'

const ABOUT = `
Tests step by step what works between one drive and one GPU: a diagnosis of the
machine, reads through Linux's block device as a reference, bind, bring-up,
reads by the CPU, stores and doorbells of the GPU, reads by the GPU, reads into
GPU memory (tier 2), and a load of the smallest packed model if the drive has
one. Reads are compared with Linux's block device or the image file; without
either, with a read by the CPU. A model is verified by its checksums. A failed
step does not stop steps that do not depend on it.

Nothing is written to the drive's media. A drive bound to Linux's driver needs
the same confirmation as bind. It is returned at the end, after Ctrl-C, and by a
second process if the command is killed. Then the reference is read again
through Linux. If a step does not end, press Ctrl-C twice: the second process
returns the drive. Without a translating IOMMU, a wrong address can overwrite
any memory of the host: save your work.

If the machine freezes, the report names the step that was running. Known serial
numbers, unique identifiers, names of hosts, users and models, paths, and quoted
text are removed from it; facts of errors are printed on the terminal only.
Please send it: see docs/evidence/hardware/contribute.md in
github.com/gpunvme/gpunvme.

Result: passed, failed, interrupted, or incomplete if no step failed but a read
by the CPU, a store, doorbell or read of the GPU, or tier 2 was not tested.

Tested on simulated drives, on a stand-in for CUDA, and in a Linux guest; not on
a GPU and an SSD in one machine. Exit code: 6 if a verification failed
(differing bytes or sizes, lost GPU stores, unverified layers), otherwise that
of a failed restore, otherwise 130 after a signal, otherwise that of the first
failure. An incomplete run without a failure exits with 0.

On a machine with a GPU and an NVMe drive, as root:
  # gpunvme first-light --drive nvme1
  # gpunvme first-light --drive 0b:00.0 --to vfio-pci --static-bar1`

export const firstLight = verb({
  options(command) {
    command
      .addOption(whole('--gpu <n>', 'CUDA index of the GPU (default: 0)', 0, 63))
      .option('--static-bar1', "also try tier 2 through NVIDIA's static BAR1 window; needs root")
    addTakingOptions(command).option('--output <file>', 'new file for the report (default: first-light-TIME.json)')
    addDriveOptions(command, 'drive image made by pack')
  },
  about: ABOUT,
  examples: [
    'gpunvme first-light --sim --output sim.json',
    'gpunvme first-light --image drive.img --output image.json --json',
  ],
  run: (flags: FirstLightFlags, context: Context) => runFirstLight(flags, context),
})
