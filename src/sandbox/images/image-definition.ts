/** Defines what an image is made of: installed Debian packages, files of this machine, and how its program is started. */

export interface ImageConfig {
  /** Numeric, because the kubelet cannot tell whether a name is root. */
  readonly user?: string
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly workingDir?: string
  readonly env?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
}

/** Something in an image that no package has; `path` is absolute. */
export type ImageEntry =
  | { readonly kind: 'text'; readonly path: string; readonly text: string; readonly mode?: number }
  | { readonly kind: 'link'; readonly path: string; readonly target: string }
  | { readonly kind: 'folder'; readonly path: string; readonly mode: number }
  /** A file or folder of this machine; `omit` names entries of the folder that are left out. */
  | { readonly kind: 'copy'; readonly path: string; readonly from: string; readonly omit?: readonly string[] }

export interface ImageDefinition {
  /** The name as containerd has it, with registry and tag. */
  readonly reference: string
  /** Installed packages, which come with their dependencies. */
  readonly packages: readonly string[]
  /** Dependencies that the image does not need. */
  readonly omittedPackages?: readonly string[]
  readonly entries: readonly ImageEntry[]
  /** Compiles the Python modules of the packages, which no program in a pod can do: its root is read-only or not its own. */
  readonly compilesPython?: boolean
  readonly config: ImageConfig
}
