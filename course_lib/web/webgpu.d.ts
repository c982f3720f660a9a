// The part of WebGPU that the page uses, for the TypeScript compiler. (W3C, WebGPU)

interface GPUBuffer {
  readonly size: number;
  mapAsync(mode: number): Promise<void>;
  getMappedRange(): ArrayBuffer;
  unmap(): void;
}

interface GPUShaderModule {
  getCompilationInfo(): Promise<{readonly messages: readonly {type: string; message: string; lineNum: number}[]}>;
}

interface GPUBindGroupLayout {
  readonly label: string;
}

interface GPUBindGroup {
  readonly label: string;
}

interface GPUCommandBuffer {
  readonly label: string;
}

interface GPUComputePipeline {
  getBindGroupLayout(index: number): GPUBindGroupLayout;
}

interface GPUBindGroupEntry {
  binding: number;
  resource: {buffer: GPUBuffer; offset?: number; size?: number};
}

interface GPUComputePassEncoder {
  setPipeline(pipeline: GPUComputePipeline): void;
  setBindGroup(index: number, group: GPUBindGroup): void;
  dispatchWorkgroups(x: number, y?: number, z?: number): void;
  end(): void;
}

interface GPUCommandEncoder {
  beginComputePass(): GPUComputePassEncoder;
  copyBufferToBuffer(source: GPUBuffer, sourceOffset: number, target: GPUBuffer, targetOffset: number, size: number): void;
  finish(): GPUCommandBuffer;
}

interface GPUQueue {
  writeBuffer(buffer: GPUBuffer, offset: number, data: ArrayBufferView | ArrayBuffer, dataOffset?: number, size?: number): void;
  submit(commands: GPUCommandBuffer[]): void;
}

interface GPUDevice {
  readonly queue: GPUQueue;
  readonly lost: Promise<{reason: string; message: string}>;
  createBuffer(wanted: {size: number; usage: number}): GPUBuffer;
  createShaderModule(wanted: {code: string}): GPUShaderModule;
  createComputePipelineAsync(wanted: {
    layout: 'auto';
    compute: {module: GPUShaderModule; entryPoint: string};
  }): Promise<GPUComputePipeline>;
  createBindGroup(wanted: {layout: GPUBindGroupLayout; entries: GPUBindGroupEntry[]}): GPUBindGroup;
  createCommandEncoder(): GPUCommandEncoder;
  pushErrorScope(filter: 'validation' | 'out-of-memory'): void;
  popErrorScope(): Promise<{message: string} | null>;
  destroy(): void;
}

interface GPUAdapter {
  readonly info?: {
    vendor?: string;
    architecture?: string;
    device?: string;
    description?: string;
    isFallbackAdapter?: boolean;
  };
  readonly limits: {readonly maxBufferSize: number; readonly maxStorageBufferBindingSize: number};
  requestDevice(wanted: {requiredLimits: Record<string, number>}): Promise<GPUDevice>;
}

interface Navigator {
  readonly gpu?: {requestAdapter(wanted?: {powerPreference?: 'high-performance'}): Promise<GPUAdapter | null>};
}
