/**
 * Returns a string of Identify data that Linux shows in sysfs, such as a serial number: one character per byte, as in
 * `IdentifyController.SN`, since a drive may have bytes that are not UTF-8. Trimmed.
 */
export function identifyText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').trim()
}
