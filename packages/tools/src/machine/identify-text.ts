/**
 * Decodes and trims a string of Identify data from sysfs, such as a serial number. Returns one character per byte, like
 * `IdentifyController.SN`: a drive may report bytes that are not UTF-8.
 */
export function identifyText(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('latin1').trim()
}
