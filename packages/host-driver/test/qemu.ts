import { qemuIsInstalled, qemuProgram } from '../src/transport/qtest/index.js'

/** Why QEMU cannot be used on this machine; undefined if it can. */
export const qemuMissing = qemuIsInstalled() ? undefined : `[qemu] ${qemuProgram()} is not installed`

/** Suffix of the titles of skipped tests; empty if QEMU can be used. */
export const skippedNote = qemuMissing === undefined ? '' : ` (skipped: ${qemuMissing})`
