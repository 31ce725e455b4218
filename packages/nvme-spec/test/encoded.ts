interface Encodes {
  encode(data: DataView, byteOffset: number, fields: never): void
}

/** Returns the submission queue entry of a command. Fields are those of its `encode`, without the types. */
export function encoded(command: Encodes, fields: object): DataView {
  const data = new DataView(new ArrayBuffer(64))
  command.encode(data, 0, fields as never)
  return data
}
