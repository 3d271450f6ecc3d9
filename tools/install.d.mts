interface Packages {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly optional?: boolean }>>
}

export function outdated(lock: Packages, installed: Packages): boolean
