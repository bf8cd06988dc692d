/** What is known of a stored dump by its place alone. */
export interface StoredDump {
  /** Of the whole archive: folders and a file, with slashes. */
  readonly name: string
  readonly sizeBytes: number
  /** When it was stored, in milliseconds since the epoch. */
  readonly storedMs: number
}

/** What the archive says of a dump that it has just stored. */
export interface Receipt {
  readonly sizeBytes: number
  /** Of the bytes stored, in hexadecimal. */
  readonly sha256: string
}

/** Where dumps are kept: a directory, or a bucket of S3. */
export interface Archive {
  /**
   * Stores a dump, whole or not at all: a crash at any moment leaves the one of that name that was there before, or
   * none. What it gives a receipt for is on disk, or acknowledged by S3. Memory does not grow with the content.
   */
  write(name: string, content: AsyncIterable<Uint8Array>, signal: AbortSignal): Promise<Receipt>
  /** The whole dumps below a folder, by name. */
  list(folder: string, signal: AbortSignal): Promise<readonly StoredDump[]>
  read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  /** One that is not there is no failure. */
  remove(name: string, signal: AbortSignal): Promise<void>
}

/** What the name of a dump ends with: our script of SQL, or what `pg_dump` made, compressed. */
export const dumpSuffixes = { script: '.sql.gz', pgDump: '.pgdump.gz' } as const

export function isNameOfDump(name: string): boolean {
  return Object.values(dumpSuffixes).some((suffix) => name.endsWith(suffix))
}
