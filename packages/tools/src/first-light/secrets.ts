import type { Controller } from '@gpunvme/host-driver'
import { IdentifyController, IdentifyNamespace } from '@gpunvme/nvme-spec'
import { hostname, userInfo } from 'node:os'
import { dirname, isAbsolute, resolve } from 'node:path'
import type { DriveFlags } from '../command-line/options.js'
import type { Facts } from '../doctor/facts.js'
import { valueOf } from '../machine/known.js'
import { Root } from '../machine/root.js'
import type { Io } from '../terminal/io.js'
import { printable } from '../terminal/printable.js'
import type { Secrets } from './redact.js'

/** Names of this process's user and host, and the files that the command line names. @param paths other such files */
export function secretsOfProcess(
  { env, cwd, program }: Pick<Io, 'env' | 'cwd' | 'program'>,
  { image, socket }: DriveFlags,
  ...paths: readonly string[]
): Partial<Secrets> {
  const host = hostname()
  const users = ['USER', 'LOGNAME', 'SUDO_USER'].map((name) => env[name] ?? '')
  const typed = [image, socket, program, ...paths].flatMap((path) => path ?? [])
  return {
    names: [host, host.split('.')[0]!, ...users, userOfProcess()],
    paths: typed.flatMap((path) => {
      // The redactor recognizes directories by itself if their paths are absolute.
      const forms = [path, resolve(cwd, path), ...(isAbsolute(path) ? [] : [dirname(path)])]
      return forms.flatMap((form) => [form, printable(form)])
    }),
  }
}

function userOfProcess(): string {
  try {
    return userInfo().username
  } catch {
    return '' // an id without a name, as in containers
  }
}

/** Identifiers of this machine and its devices, as Linux has them. */
export async function secretsOfMachine({
  machine,
  nvidia,
}: Pick<Facts, 'machine' | 'nvidia'>): Promise<Partial<Secrets>> {
  const root = new Root(machine.root)
  const files = ['etc/machine-id', 'proc/sys/kernel/random/boot_id']
  for (const drive of await root.list('sys/class/nvme')) {
    const folder = `sys/class/nvme/${drive}`
    files.push(`${folder}/serial`, `${folder}/subsysnqn`, `${folder}/hostnqn`, `${folder}/hostid`)
    for (const entry of await root.list(folder)) {
      if (/^nvme\d/.test(entry))
        for (const id of ['wwid', 'uuid', 'nguid', 'eui']) files.push(`${folder}/${entry}/${id}`)
    }
  }
  const texts = await Promise.all(files.map((path) => root.text(path)))
  const serials = machine.drives.map(({ serial }) => valueOf(serial))
  const gpus = nvidia.gpus.map(({ uuid }) => valueOf(uuid))
  return { identifiers: [...texts, ...serials, ...gpus].flatMap((each) => each ?? []) }
}

/** Identifiers of a drive, as its Identify data have them. */
export function secretsOfDrive({ identity, namespaces }: Controller): Partial<Secrets> {
  const { SUBNQN } = IdentifyController.view(identity.raw)
  const ids = namespaces.flatMap(({ identity: { raw } }) => {
    const { NGUID, EUI64 } = IdentifyNamespace.view(raw)
    return [NGUID, EUI64].map((bytes) => Buffer.from(bytes).toString('hex'))
  })
  return { identifiers: [identity.serial, SUBNQN, ...ids] }
}
