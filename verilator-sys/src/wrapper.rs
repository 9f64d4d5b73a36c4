//! Writes the C++ file with the C functions through which Rust uses a model.

use std::fmt::Write as _;

use crate::header::HeaderPort;
use crate::options::Direction;

/// Changes whenever the functions below, the order of calls (`order`), the loops (`loops`) or the
/// parts of functions (`cut`) change; part of the cache key.
pub(crate) const WRAPPER_VERSION: u32 = 9;

/// Name of the class that Verilator generates.
pub const CLASS: &str = "Vmodel";

/// One C++ file: the port table, and functions to make, evaluate, trace and delete an instance.
///
/// `vl_fatal` and `vl_stop` of Verilator's run-time library end the process; the library is
/// therefore compiled without them and they are defined here to throw, so that a model that stops
/// becomes an error value of `hermes_model_eval`. `because` is why the C++ was not rewritten, if it
/// was to be; else it is empty.
pub(crate) fn generate(ports: &[HeaderPort], trace: bool, because: &str) -> String {
    let mut text = String::new();
    let trace_flag = u8::from(trace);
    let _ =
        write!(text, "{}", PROLOGUE.replace("@CLASS@", CLASS).replace("@TRACE@", &trace_flag.to_string()));
    text.push_str("static const PortEntry kPorts[] = {\n");
    for HeaderPort { port, .. } in ports {
        let output = u32::from(port.direction == Direction::Output);
        let _ = writeln!(text, "    {{\"{}\", {}, {}u}},", port.name, port.width, output);
    }
    text.push_str("    {nullptr, 0, 0},\n};\n\n");
    text.push_str(
        "static void* storage_of(Vmodel* top, uint32_t index, uint32_t* bytes) {\n    switch (index) {\n",
    );
    for (index, HeaderPort { member, .. }) in ports.iter().enumerate() {
        let _ = writeln!(
            text,
            "    case {index}: *bytes = sizeof(top->{member}); return static_cast<void*>(&top->{member});"
        );
    }
    text.push_str("    default: *bytes = 0; return nullptr;\n    }\n}\n");
    text.push_str(EPILOGUE);
    let _ = writeln!(
        text,
        "\nHERMES_API const char* hermes_model_plain_because() {{ return \"{}\"; }}",
        because.replace('\\', "\\\\").replace('"', "\\\"")
    );
    text
}

const PROLOGUE: &str = r#"// Generated: C interface of a Verilated model.
#include "@CLASS@.h"
#include "verilated.h"
#define HERMES_TRACE @TRACE@
#if HERMES_TRACE
#include "verilated_fst_c.h"
#endif
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

static std::runtime_error stopped(const char* file, int line, const char* message) {
    std::string text = message ? message : "stopped";
    if (file && file[0]) text = std::string(file) + ":" + std::to_string(line) + ": " + text;
    return std::runtime_error(text);
}

void vl_fatal(const char* file, int line, const char*, const char* message) { throw stopped(file, line, message); }
void vl_stop(const char* file, int line, const char*) { throw stopped(file, line, "Verilog $stop"); }
void vl_finish(const char*, int, const char*) { Verilated::threadContextp()->gotFinish(true); }

struct PortEntry {
    const char* name;
    uint32_t width;
    uint32_t output;
};

"#;

const EPILOGUE: &str = r#"
struct Instance {
    VerilatedContext context;
    std::unique_ptr<Vmodel> top;
#if HERMES_TRACE
    std::unique_ptr<VerilatedFstC> fst;
#endif
    std::string error;
};

#define HERMES_API extern "C" __attribute__((visibility("default")))

HERMES_API const PortEntry* hermes_model_ports() { return kPorts; }

HERMES_API Instance* hermes_model_new() {
    try {
        auto instance = std::make_unique<Instance>();
#if HERMES_TRACE
        instance->context.traceEverOn(true);
#endif
        instance->top = std::make_unique<Vmodel>(&instance->context, "");
        // Runs the initial blocks with all inputs 0.
        instance->top->eval();
        return instance.release();
    } catch (...) {
        return nullptr;
    }
}

HERMES_API void* hermes_model_port(Instance* instance, uint32_t index, uint32_t* bytes) {
    return storage_of(instance->top.get(), index, bytes);
}

// 0: evaluated. 1: the model stopped, see hermes_model_error.
HERMES_API int32_t hermes_model_eval(Instance* instance) {
    try {
        // What the run-time library reports goes to the context of the thread, which another
        // instance may have set.
        Verilated::threadContextp(&instance->context);
        instance->top->eval();
        return 0;
    } catch (const std::exception& e) {
        instance->error = e.what();
    } catch (...) {
        instance->error = "unknown C++ exception";
    }
    return 1;
}

HERMES_API const char* hermes_model_error(Instance* instance) { return instance->error.c_str(); }

HERMES_API int32_t hermes_model_finished(Instance* instance) { return instance->context.gotFinish() ? 1 : 0; }

// 0: open. 1: the file cannot be written (always so without a path). 2: built without tracing.
HERMES_API int32_t hermes_model_trace_open(Instance* instance, const char* path) {
#if HERMES_TRACE
    if (instance->fst || !path) return 1;
    auto fst = std::make_unique<VerilatedFstC>();
    instance->top->trace(fst.get(), 99);
    fst->set_time_unit("1ns");
    fst->set_time_resolution("1ns");
    fst->open(path);
    if (!fst->isOpen()) return 1;
    instance->fst = std::move(fst);
    return 0;
#else
    (void)instance;
    (void)path;
    return 2;
#endif
}

HERMES_API void hermes_model_trace_dump(Instance* instance, uint64_t time) {
#if HERMES_TRACE
    if (instance->fst) instance->fst->dump(time);
#else
    (void)instance;
    (void)time;
#endif
}

HERMES_API void hermes_model_trace_flush(Instance* instance) {
#if HERMES_TRACE
    if (instance->fst) instance->fst->flush();
#else
    (void)instance;
#endif
}

HERMES_API void hermes_model_trace_close(Instance* instance) {
#if HERMES_TRACE
    if (instance->fst) {
        instance->fst->close();
        instance->fst.reset();
    }
#else
    (void)instance;
#endif
}

HERMES_API void hermes_model_delete(Instance* instance) {
    hermes_model_trace_close(instance);
    // The model's scopes leave the context of the thread, which may be that of an instance that is
    // gone.
    Verilated::threadContextp(&instance->context);
    try {
        instance->top->final();
    } catch (...) {
    }
    delete instance;
}
"#;
