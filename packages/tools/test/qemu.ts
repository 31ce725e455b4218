import { qemuIsInstalled, qemuProgram } from '@gpunvme/host-driver/qtest'

/** For a title: why QEMU cannot be used here; nothing where it can. */
export const qemuNote = qemuIsInstalled() ? '' : ` (skipped: [qemu] ${qemuProgram()} is not installed)`
