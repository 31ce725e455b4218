import { expect, test } from 'vitest'
import { Redactor } from './redact.js'

function redactor(): Redactor {
  const made = new Redactor()
  made.add({
    identifiers: ['S64DMX0T123456', 'e8:23:8f:a6:bf:53:00:01', 'a1', '0000000000000000'],
    names: ['rig7', 'rig7.example.org', 'alice', 'root'],
    folders: ['/home/alice', '/srv/models/', '/', 'relative'],
  })
  return made
}

test.each([
  ['a serial number', 'its serial number is S64DMX0T123456, not s64dmx0t123456', 'its serial number is <ID>, not <ID>'],
  ['an EUI64 without separators', 'nvme-eui.e8238fa6bf530001', 'nvme-eui.<ID>'],
  ['host names', 'rig7: no route to rig7.example.org', '<NAME>: no route to <NAME>'],
  ['a user name', 'started by alice (1000)', 'started by <NAME> (1000)'],
  ['directories', 'Cannot read /home/alice/x.img or /srv/models/y', 'Cannot read <DIR>/x.img or <DIR>/y'],
  ['other paths', 'mounted on /home/bob/disk, /mnt/photos', 'mounted on <PATH>, <PATH>'],
  ['a UUID', 'GPU-8f14e45f-ceea-467a-9b36-0c0a0d2c2e11 is busy', '<UUID> is busy'],
  ['an NQN', 'nqn.2014-08.org.nvmexpress:uuid:8f14e45f-ceea-467a-9b36-0c0a0d2c2e11 left', '<NQN> left'],
  ['an EUI64 of another drive', '00:11:22:33:44:55:66:77', '<EUI>'],
])('removes %s from a message', (_, text, clean) => {
  expect(redactor().text(text)).toBe(clean)
})

test('keeps addresses, numbers, common words and parts of words', () => {
  const text =
    '0000:0b:00.0 (nvme0) needs root: malice in a1b2, AQA = 001f001fh of 0000000000000000 at Gen4 x4, and/or /sys/bus/pci, /dev/nvme0n1: https://x.org/y'
  expect(redactor().text(text)).toBe(text)
})
