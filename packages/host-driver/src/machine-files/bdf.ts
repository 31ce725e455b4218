/** Checks a PCI address as sysfs writes it. @throws RangeError */
export function checkBdf(bdf: string): void {
  if (typeof bdf !== 'string' || !/^[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$/.test(bdf))
    throw new RangeError(`bdf: expected a PCI address in lower case, such as 0000:0b:00.0, got ${JSON.stringify(bdf)}`)
}
