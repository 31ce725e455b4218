// Runs the steps of VM_STEPS one after another in the host's shell. Prints a line for each: its exit code, its output and
// the kernel messages since the step before. D4 is the kernel's name of the controller in slot 4, such as nvme0: names
// depend on the order in which probing ends. D4_N1 is its namespace with NSID 1, such as nvme0n1. Variables of missing
// controllers and namespaces are unset.
import { spawnSync, type StdioOptions } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { Step, StepRun } from '../steps.js'
import { KernelMessages } from './kernel-messages.js'

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const steps = JSON.parse(process.env['VM_STEPS']!) as Step[]
const kernel = new KernelMessages()
const encoding = 'latin1'

function controllers(): Record<string, string> {
  const folders = Array.from({ length: 12 }, (_, index) => {
    const slot = index + 4
    return [`D${slot}`, `/sys/bus/pci/devices/0000:00:${slot.toString(16).padStart(2, '0')}.0/nvme`] as const
  })
  const found = folders.filter(([, folder]) => existsSync(folder))
  return Object.fromEntries(found.flatMap(([name, folder]) => readdirSync(folder).map((each) => [name, each])))
}

function namespaces(): Record<string, string> {
  const found = Object.entries(controllers()).flatMap(([name, controller]) => {
    const folder = `/sys/class/nvme/${controller}`
    const names = readdirSync(folder).filter((each) => existsSync(`${folder}/${each}/nsid`))
    return names.map((each) => [`${name}_N${readFileSync(`${folder}/${each}/nsid`, 'utf8').trim()}`, each] as const)
  })
  return Object.fromEntries(found)
}

/** Waits for the kernel, which may still be probing controllers. */
function waitForDrives(count: number): void {
  const deadline = performance.now() + 60_000
  const areThere = () => {
    const found = Object.values(controllers())
    return found.length >= count && found.every((name) => existsSync(`/dev/${name}n1`))
  }
  while (!areThere() && performance.now() < deadline) spawnSync('/tmp/vm/busybox', ['sleep', '0.1'])
}

waitForDrives(Number(process.env['VM_DRIVES'] ?? 0))
for (const { name, run, timeoutMs = 60_000 } of steps) {
  const started = performance.now()
  const options = { encoding, timeout: timeoutMs, maxBuffer: 2 ** 24, cwd: '/tmp' } as const
  const env = { PATH, LC_ALL: 'C', ...controllers(), ...namespaces() }
  // If stdin is a socket, bash assumes a remote login.
  const stdio: StdioOptions = ['ignore', 'pipe', 'pipe']
  const { status, signal, stdout, stderr } = spawnSync('/bin/bash', ['--norc', '-c', run], { ...options, env, stdio })
  const ended: StepRun = {
    name,
    code: status,
    signal,
    stdout,
    stderr,
    ms: Math.round(performance.now() - started),
    kernel: kernel.next(),
  }
  process.stdout.write(`${JSON.stringify(ended)}\n`)
}
