/**
 * Resolves a path below a folder, and refuses one that leaves it: by `..`, as an absolute path, or through a symbolic
 * link. Must not know findings: callers decide what a refusal means.
 */
import { lstatSync, realpathSync } from 'node:fs'
import path from 'node:path'

/** Undefined when the path is not below the folder, or when a part of it is a symbolic link. */
export function resolveBelow(folder: string, name: string): string | undefined {
  const parts = name.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..' || /[\0\\]/.test(part))) return undefined
  let current = resolveLinks(folder)
  for (const part of parts) {
    current = path.join(current, part)
    if (lstatSync(current, { throwIfNoEntry: false })?.isSymbolicLink()) return undefined
  }
  return current
}

/** The folder itself may be a link: its owner chose it. */
function resolveLinks(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return path.resolve(folder)
  }
}
