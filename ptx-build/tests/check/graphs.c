// Graphs on the functions of the driver: the sums of two rows of 256 numbers.
#include "calls.h"
#include <string.h>

static unsigned numbers[512], sums[2];
static int called, destroyed;

static void call(void *data) { called += *(int *)data; }
static void destroy(void *data) { destroyed += *(int *)data; }

int main(int count, char **words) {
  if (count < 2) return 4;
  CUmodule module;
  CUfunction function;
  CUstream stream;
  CUdeviceptr in, out;
  for (unsigned i = 0; i < 512; i++) numbers[i] = i;
  CUcontext context = begin();
  CALL(cuModuleLoad, &module, words[1]);
  CALL(cuModuleGetFunction, &function, module, "right_reduce");
  CALL(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
  CALL(cuMemAlloc, &in, sizeof numbers);
  CALL(cuMemAlloc, &out, sizeof sums);

  CUgraph graph, wrong;
  CUgraphExec executable;
  CUgraphNode copy, fill, kernel, back, host, found[8];
  CALL(cuGraphCreate, &graph, 0);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphCreate, &wrong, 1);
  CUDA_MEMCPY3D box = {0};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = numbers;
  box.srcPitch = box.dstPitch = box.WidthInBytes = 1024;
  box.srcHeight = box.dstHeight = box.Height = 2;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = in;
  box.Depth = 1;
  CALL(cuGraphAddMemcpyNode, &copy, graph, NULL, 0, &box, context);
  CUDA_MEMSET_NODE_PARAMS filled = {.dst = out, .value = 7, .elementSize = 4, .width = 2, .height = 1};
  CALL(cuGraphAddMemsetNode, &fill, graph, NULL, 0, &filled, context);
  void *pointers[] = {&in, &out};
  CUDA_KERNEL_NODE_PARAMS launched = {.func = function, .gridDimX = 2, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256,
                                      .blockDimY = 1, .blockDimZ = 1, .kernelParams = pointers};
  CUgraphNode before[] = {copy, fill};
  CALL(cuGraphAddKernelNode, &kernel, graph, before, 2, &launched);
  CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
  any.memcpy.copyCtx = context;
  any.memcpy.copyParams = (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = out, .srcPitch = 8,
                                          .srcHeight = 1, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = sums,
                                          .dstPitch = 8, .dstHeight = 1, .WidthInBytes = 8, .Height = 1, .Depth = 1};
  CALL(cuGraphAddNode, &back, graph, &kernel, NULL, 1, &any);
  int one = 1;
  CUDA_HOST_NODE_PARAMS function_of_host = {call, &one};
  CALL(cuGraphAddHostNode, &host, graph, &back, 1, &function_of_host);

  // The program keeps something alive as long as the graph and what is made of it.
  CUuserObject object;
  CALL(cuUserObjectCreate, &object, &one, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  CALL(cuGraphRetainUserObject, graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);

  size_t nodes = 8, edges = 0;
  CUgraphNodeType type;
  CALL(cuGraphGetNodes, graph, found, &nodes);
  HOLDS(nodes == 5 && found[2] == kernel && found[5] == NULL);
  CALL(cuGraphNodeGetType, back, &type);
  HOLDS(type == CU_GRAPH_NODE_TYPE_MEMCPY);
  CALL(cuGraphNodeGetDependencies, kernel, NULL, NULL, &edges);
  HOLDS(edges == 2);
  CUDA_KERNEL_NODE_PARAMS asked;
  CALL(cuGraphKernelNodeGetParams, kernel, &asked);
  HOLDS(asked.func == function && *(CUdeviceptr *)asked.kernelParams[0] == in);
  CUDA_MEMCPY3D asked_box;
  CALL(cuGraphMemcpyNodeGetParams, back, &asked_box);
  HOLDS(asked_box.srcDevice == out && asked_box.dstHost == (void *)sums && asked_box.WidthInBytes == 8);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphKernelNodeGetParams, copy, &asked);

  GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphInstantiate, &executable, graph,
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
  CALL(cuGraphInstantiate, &executable, graph, 0);
  for (int round = 0; round < 3; round++) {
    sums[0] = sums[1] = 0;
    CALL(cuGraphLaunch, executable, stream);
    CALL(cuStreamSynchronize, stream);
    HOLDS(sums[0] == 32640 && sums[1] == 98176 && called == round + 1);
  }

  // A stream that captures takes no executable graph. As a child the graph is part of another one.
  CUgraph outer;
  CUgraphNode child;
  CUgraphExec whole;
  CALL(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuGraphLaunch, executable, stream);
  GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, stream, &wrong);
  CALL(cuGraphCreate, &outer, 0);
  CALL(cuGraphAddChildGraphNode, &child, outer, NULL, 0, graph);
  CALL(cuGraphNodeGetType, child, &type);
  HOLDS(type == CU_GRAPH_NODE_TYPE_GRAPH);
  CALL(cuGraphInstantiate, &whole, outer, 0);
  sums[0] = 0;
  CALL(cuGraphLaunch, whole, stream);
  HOLDS(sums[0] == 32640 && called == 4);

  // Another kernel of the same form, and one of another.
  CUgraphExecUpdateResultInfo info;
  numbers[0] = 1000;
  launched.gridDimX = 1;
  CALL(cuGraphKernelNodeSetParams, kernel, &launched);
  CALL(cuGraphExecUpdate, executable, graph, &info);
  sums[0] = sums[1] = 0;
  CALL(cuGraphLaunch, executable, stream);
  HOLDS(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS && sums[0] == 33640 && sums[1] == 7);
  CALL(cuGraphDestroyNode, host);
  GIVES(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, cuGraphExecUpdate, executable, graph, &info);
  HOLDS(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  CALL(cuGraphDestroy, graph);
  HOLDS(destroyed == 0);
  CALL(cuGraphExecDestroy, executable);
  HOLDS(destroyed == 1);
  GIVES(CUDA_ERROR_INVALID_VALUE, cuGraphLaunch, executable, stream);

  CALL(cuStreamBeginCapture, stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  GIVES(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, cuModuleLoad, &module, words[1]);
  GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuMemsetD32Async, out, 0, 2, stream);
  GIVES(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture, stream, &wrong);
  HOLDS(wrong == NULL);
  puts("right");
  return 0;
}
