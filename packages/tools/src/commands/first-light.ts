import { addDriveOptions, whole } from '../command-line/options.js'
import { verb, type Context } from '../command-line/verb.js'
import { targetOption } from '../drive/plan-taking.js'
import { runFirstLight, type FirstLightFlags } from '../first-light/first-light.js'

const ABOUT = `
Tests step by step what works between one drive and one GPU: judgement of the
machine, reads through Linux's block device as a reference, bind, bring-up,
reads by the CPU, stores and doorbells of the GPU, reads by the GPU, reads into
GPU memory (tier 2), and a load of the smallest packed model if the drive has
one. Every byte that is read is compared. A failed step does not stop steps that
do not depend on it.

Nothing is written to the drive's media. A drive of Linux is confirmed as with
bind, and returned to its driver at the end, also after Ctrl-C or a crash: a
second process watches over that. Then the reference is read again through
Linux. Without a translating IOMMU, a wrong address can overwrite any memory of
the host: save your work.

The report is on the disk before and after each step, so that after a frozen
machine it still says which step was running. It has no serial numbers, unique
identifiers, names of hosts and users, or directories. Please send it: see
docs/evidence/hardware/contribute.md in github.com/gpunvme/gpunvme.

Tested on simulated drives, on a stand-in for CUDA, and in a Linux guest; not on
a GPU and an SSD in one machine. Exit code: 6 if bytes differ or stores of the
GPU do not arrive, otherwise that of the first failure.

On a machine with a GPU and an NVMe drive, as root:
  # gpunvme first-light --drive nvme1
  # gpunvme first-light --drive 0b:00.0 --to vfio-pci --static-bar1`

export const firstLight = verb({
  options(command) {
    command
      .addOption(whole('--gpu <n>', 'CUDA index of the GPU (default: 0)', 0, 63))
      .option('--static-bar1', "also try tier 2 through NVIDIA's static BAR1 window; needs root")
      .addOption(targetOption())
      .option('--serial <serial>', 'required serial number of the drive')
      .option('--yes', 'with --serial: bind without confirmation')
      .option('--output <file>', 'new file for the report (default: first-light-DATE.json)')
    addDriveOptions(command, 'drive image made by pack')
  },
  about: ABOUT,
  examples: [
    'gpunvme first-light --sim --output sim.json',
    'gpunvme first-light --image drive.img --output image.json --json',
  ],
  run: (flags: FirstLightFlags, context: Context) => runFirstLight(flags, context),
})
