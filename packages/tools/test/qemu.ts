import { qemuIsInstalled, qemuProgram } from '@gpunvme/host-driver/qtest'

/** Suffix for test titles: empty if QEMU is installed. */
export const qemuNote = qemuIsInstalled() ? '' : ` (skipped: [qemu] ${qemuProgram()} is not installed)`
