import { qemuIsInstalled, qemuProgram } from '../src/transport/qtest/index.js'

/** Why QEMU cannot be used here; undefined where it can. */
export const qemuMissing = qemuIsInstalled() ? undefined : `[qemu] ${qemuProgram()} is not installed`

/** For a title: nothing where QEMU can be used. */
export const skippedNote = qemuMissing === undefined ? '' : ` (skipped: ${qemuMissing})`
