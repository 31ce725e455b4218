import { expect, test } from 'vitest'
import { Redactor } from './redact.js'

function redactor(): Redactor {
  const made = new Redactor()
  made.add({
    identifiers: ['S64DMX0T123456', 'e8:23:8f:a6:bf:53:00:01', 'a1', '0000000000000000'],
    names: ['rig7', 'rig7.example.org', 'alice', 'root', 'acme-llm'],
    paths: ['/srv/models/my model.img', 'clients/acme/x.img', 'clients/acme', 'weird\\u{1b}.img', '.', '/'],
  })
  return made
}

test.each([
  ['a serial number', 'its serial number is S64DMX0T123456, not s64dmx0t123456', 'its serial number is <ID>, not <ID>'],
  ['an EUI64 without separators', 'nvme-eui.e8238fa6bf530001', 'nvme-eui.<ID>'],
  ['host names', 'rig7: no route to rig7.example.org', '<NAME>: no route to <NAME>'],
  ['a user name', 'started by alice (1000)', 'started by <NAME> (1000)'],
  ['a UUID', 'GPU-8f14e45f-ceea-467a-9b36-0c0a0d2c2e11 is busy', '<UUID> is busy'],
  ['an NQN', 'nqn.2014-08.org.nvmexpress:uuid:8f14e45f-ceea-467a-9b36-0c0a0d2c2e11 left', '<NQN> left'],
  ['an EUI64 of another drive', '00:11:22:33:44:55:66:77', '<EUI>'],
  ['a mount point', 'mounted on /run/media/alice/Family Photos', 'mounted on <PATH>'],
  ['several paths', 'mounted on /home/bob/disk, /mnt/photos', 'mounted on <PATH>'],
  ['a path below /usr', 'found in /usr/local/clients/acme', 'found in <PATH>'],
  ['a mapped device', 'held by /dev/mapper/acme-vg', 'held by <PATH>'],
  ['a volume group', "held by dm-0 (LVM 'acme--vg-secret'), swap", "held by dm-0 (LVM '<TEXT>'), swap"],
  ['a label', 'opened /dev/disk/by-label/Alice', 'opened <PATH>'],
  ['a run directory', 'socket in /run/user/1000', 'socket in <PATH>'],
  ['a path with blanks', 'Cannot read /mnt/My Backups/x: no such file (ENOENT)', 'Cannot read <PATH> (ENOENT)'],
  ['a file URL', 'at file:///home/bob/x.js:1:2', 'at <PATH>'],
  ['a path after a colon', 'path:/home/bob/x', 'path:<PATH>'],
  ['a path in a home', '~bob/x is missing', '<PATH>'],
  ['a quoted path with an apostrophe', "no '/mnt/Bob's disk/x' here", "no '<TEXT>' here"],
  ['a relative path of an option', 'Cannot read clients/acme/x.img: gone', 'Cannot read <PATH>: gone'],
  ['a file beside it', "Cannot read clients/acme/other.img: 'gone'", "Cannot read <PATH>'<TEXT>'"],
  ['a known path with a blank', 'Cannot read /srv/models/my model.img: gone', 'Cannot read <PATH>: gone'],
  ['the printed form of a path', 'Cannot read weird\\u{1b}.img', 'Cannot read <PATH>'],
  [
    'a command line',
    'since 2026-12-01, by alice: gpunvme bind nvme1 --serial OTHER9988 -- ./run.sh',
    'since 2026-12-01, by <NAME>: gpunvme bind nvme1 --serial <ID> -- <PATH>',
  ],
  [
    'the serial number of another drive',
    'its serial number was S64DMX0T123456, and is now OTHER9988',
    'its serial number was <ID>, and is now <ID>',
  ],
  [
    'names of a model and its layers',
    'Verification failed: "blk.0 of \\"a\\"" of model "acme-llm", chunk 3',
    'Verification failed: "<TEXT>" of model "<TEXT>", chunk 3',
  ],
  ['a model outside of quotes', 'loaded acme-llm', 'loaded <NAME>'],
  ['a path behind a device', '/dev/nvme0n1/../../home/bob', '<PATH>'],
])('removes %s from a message', (_, text, clean) => {
  expect(redactor().text(text)).toBe(clean)
})

test('keeps addresses, numbers, common words and parts of words', () => {
  const text =
    "0000:0b:00.0 (nvme0) needs root: malice in a1b2, AQA = 001f001fh of 0000000000000000 at Gen4 x4, and/or /sys/bus/pci/devices/0000:0b:00.0, /dev/nvme0n1p2 '/dev/vfio/12': https://x.org/y of Linux's driver and the drive's media"
  expect(redactor().text(text)).toBe(text)
})

test('values removes secrets from all strings of a report except fixed words', () => {
  const report = {
    ...{ step: 'alice', code: 'alice', drive: { address: 'alice', model: 'Alice S64DMX0T123456' } },
    ...{ steps: [{ machine: { board: 'rig7', sockets: 1, kernel: null } }], why: ['alice'] },
  }
  expect(redactor().values(report)).toEqual({
    ...{ step: 'alice', code: 'alice', drive: { address: 'alice', model: '<NAME> <ID>' } },
    ...{ steps: [{ machine: { board: '<NAME>', sockets: 1, kernel: null } }], why: ['<NAME>'] },
  })
})
