/** The Go toolchain: whether there is one, and the environment in which it builds the same thing everywhere. */
import { describeExit, type Exec, succeeded } from '../../exec/process.ts'

export interface Toolchain {
  /** `go1.26.8`: part of the key of everything that it builds. */
  readonly version: string
  /** `linux-amd64`. */
  readonly platform: string
}

/** Settings of the user that would change what comes out are set aside; proxies and caches are the user's own. */
export const goEnv: Readonly<Record<string, string>> = { GOFLAGS: '-buildvcs=false', GOWORK: 'off' }

/** Flags of every build. Paths of this machine stay out, and so do symbols that nobody reads here. */
export const buildFlags: readonly string[] = ['-mod=readonly', '-trimpath']

export const linkerFlags = '-s -w'

/** Asked inside a pin: its go.mod may call for a newer toolchain than the one in PATH. */
export async function findToolchain(exec: Exec, folder: string): Promise<Toolchain | { readonly missing: string }> {
  const asked = await exec({
    file: 'go',
    args: ['env', 'GOVERSION', 'GOOS', 'GOARCH'],
    cwd: folder,
    env: goEnv,
  })
  if (!succeeded(asked.exit)) {
    return { missing: asked.stderr.trim() || describeExit(asked.exit) }
  }
  const [version = '', system = '', architecture = ''] = asked.stdout.trim().split('\n')
  return { version, platform: `${system}-${architecture}` }
}
