interface Packages {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>
}

export function isOutdated(lock: Packages, installed: Packages): boolean
