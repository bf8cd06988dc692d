import { existsSync, readdirSync, readlinkSync } from 'node:fs'

/** The files of a directory that this process has open, where the system tells. */
export function openFilesIn(directory: string): readonly string[] {
  if (!existsSync('/proc/self/fd')) return []
  const links = readdirSync('/proc/self/fd').map((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`)
    } catch {
      return ''
    }
  })
  return links.filter((link) => link.startsWith(directory))
}
