#include "kernels/deflate/libraries.hpp"

#include "kernels/frame/library.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace assay::kernels {

namespace {

/// z_stream of zlib.h. zng_stream of zlib-ng.h has the same layout where a long has eight bytes.
struct ZStream {
    const unsigned char* next_in;
    unsigned avail_in;
    unsigned long total_in;
    unsigned char* next_out;
    unsigned avail_out;
    unsigned long total_out;
    const char* msg;
    void* state;
    void* (*zalloc)(void*, unsigned, unsigned);
    void (*zfree)(void*, void*);
    void* opaque;
    int data_type;
    unsigned long adler;
    unsigned long reserved;
};

constexpr int z_finish = 4;
constexpr int z_stream_end = 1;
constexpr int z_deflated = 8;
constexpr int z_raw = -15; ///< A window of 2^15 bytes, and no header.
constexpr int z_memory = 8;

/// Functions of zlib and zlib-ng, whose names have different prefixes.
struct Zlib {
    Zlib(const char* variable, const char* file, const std::string& prefix, const char* version_of)
        : library(variable, {file}), deflate(function<int(ZStream*, int)>(prefix + "deflate")),
          deflate_reset(function<int(ZStream*)>(prefix + "deflateReset")),
          deflate_end(function<int(ZStream*)>(prefix + "deflateEnd")),
          inflate(function<int(ZStream*, int)>(prefix + "inflate")),
          inflate_reset(function<int(ZStream*)>(prefix + "inflateReset")),
          inflate_end(function<int(ZStream*)>(prefix + "inflateEnd")),
          version(library.function<const char*()>(version_of)) {}
    virtual ~Zlib() = default;
    Zlib(const Zlib&) = delete;
    Zlib& operator=(const Zlib&) = delete;

    virtual int begin_deflate(ZStream* stream, int level) const = 0;
    virtual int begin_inflate(ZStream* stream) const = 0;

    [[nodiscard]] virtual bool whole() const {
        return deflate && deflate_reset && deflate_end && inflate && inflate_reset && inflate_end;
    }

    template <class Function>
    Function* function(const std::string& name) const {
        return library.function<Function>(name.c_str());
    }

    Library library;
    int (*deflate)(ZStream*, int);
    int (*deflate_reset)(ZStream*);
    int (*deflate_end)(ZStream*);
    int (*inflate)(ZStream*, int);
    int (*inflate_reset)(ZStream*);
    int (*inflate_end)(ZStream*);
    const char* (*version)();
};

struct Zlib1 final : Zlib {
    Zlib1() : Zlib("ASSAY_LIB_ZLIB", "libz.so.1", "", "zlibVersion") {}

    int begin_deflate(ZStream* stream, int level) const override {
        return init_deflate(stream, level, z_deflated, z_raw, z_memory, 0, version(), sizeof *stream);
    }
    int begin_inflate(ZStream* stream) const override {
        return init_inflate(stream, z_raw, version(), sizeof *stream);
    }
    [[nodiscard]] bool whole() const override {
        return Zlib::whole() && version && init_deflate && init_inflate;
    }

    int (*init_deflate)(ZStream*, int, int, int, int, int, const char*, int) =
        function<int(ZStream*, int, int, int, int, int, const char*, int)>("deflateInit2_");
    int (*init_inflate)(ZStream*, int, const char*,
                        int) = function<int(ZStream*, int, const char*, int)>("inflateInit2_");
};

struct ZlibNg final : Zlib {
    ZlibNg() : Zlib("ASSAY_LIB_ZLIB_NG", "libz-ng.so.2", "zng_", "zlibng_version") {}

    int begin_deflate(ZStream* stream, int level) const override {
        return init_deflate(stream, level, z_deflated, z_raw, z_memory, 0);
    }
    int begin_inflate(ZStream* stream) const override { return init_inflate(stream, z_raw); }
    [[nodiscard]] bool whole() const override { return Zlib::whole() && init_deflate && init_inflate; }

    int (*init_deflate)(ZStream*, int, int, int, int,
                        int) = function<int(ZStream*, int, int, int, int, int)>("zng_deflateInit2");
    int (*init_inflate)(ZStream*, int) = function<int(ZStream*, int)>("zng_inflateInit2");
};

template <class Which>
const Which& the() {
    static const Which found;
    return found;
}

std::size_t finished(const ZStream& stream, int status) {
    return status == z_stream_end ? stream.total_out : failed;
}

void direct(ZStream& stream, const Chunk& chunk) {
    stream.next_in = chunk.from;
    stream.avail_in = static_cast<unsigned>(chunk.bytes);
    stream.next_out = chunk.to;
    stream.avail_out = static_cast<unsigned>(chunk.room);
}

/// A thread's own stream for one compression level.
template <class Which>
struct Deflating {
    explicit Deflating(int level) { there = the<Which>().begin_deflate(&stream, level) == 0; }
    Deflating(const Deflating&) = delete;
    Deflating& operator=(const Deflating&) = delete;
    ~Deflating() { the<Which>().deflate_end(&stream); }
    ZStream stream{};
    bool there;
};

template <class Which>
struct Inflating {
    Inflating() { there = the<Which>().begin_inflate(&stream) == 0; }
    Inflating(const Inflating&) = delete;
    Inflating& operator=(const Inflating&) = delete;
    ~Inflating() { the<Which>().inflate_end(&stream); }
    ZStream stream{};
    bool there;
};

template <class Which>
std::size_t z_compress(const Chunk& chunk, int level) {
    thread_local std::map<int, Deflating<Which>> own;
    Deflating<Which>& at = own.try_emplace(level, level).first->second;
    if (!at.there || the<Which>().deflate_reset(&at.stream) != 0) return failed;
    direct(at.stream, chunk);
    return finished(at.stream, the<Which>().deflate(&at.stream, z_finish));
}

template <class Which>
std::size_t z_inflate(const Chunk& chunk) {
    thread_local Inflating<Which> at;
    if (!at.there || the<Which>().inflate_reset(&at.stream) != 0) return failed;
    direct(at.stream, chunk);
    return finished(at.stream, the<Which>().inflate(&at.stream, z_finish));
}

constexpr const char* not_damaged = "libraries differ in which damaged streams they take (damage=0)";

template <class Which>
const char* z_missing(const Chunks& w) {
    if (w.damaged) return not_damaged;
    const Which& found = the<Which>();
    if (!found.library.is_loaded()) return found.library.reason();
    return found.whole() ? nullptr : "this library lacks functions of deflate or inflate";
}

template <class Which>
const char* z_name(const char* name) {
    static const std::string text =
        the<Which>().version ? name + std::string(" ") + the<Which>().version() : "";
    return text.c_str();
}

/// Functions as declared in libdeflate.h.
struct Libdeflate {
    Library library{"ASSAY_LIB_LIBDEFLATE", {"libdeflate.so.0"}};
    void* (*make)(int) = library.function<void*(int)>("libdeflate_alloc_compressor");
    void (*drop)(void*) = library.function<void(void*)>("libdeflate_free_compressor");
    std::size_t (*compress)(void*, const void*, std::size_t, void*, std::size_t) =
        library.function<std::size_t(void*, const void*, std::size_t, void*, std::size_t)>(
            "libdeflate_deflate_compress");
    void* (*make_inflater)() = library.function<void*()>("libdeflate_alloc_decompressor");
    void (*drop_inflater)(void*) = library.function<void(void*)>("libdeflate_free_decompressor");
    int (*inflate)(void*, const void*, std::size_t, void*, std::size_t, std::size_t*) =
        library.function<int(void*, const void*, std::size_t, void*, std::size_t, std::size_t*)>(
            "libdeflate_deflate_decompress");
};

/// First fields of isal_zstream and inflate_state in isa-l/igzip_lib.h; the following ones are private to the
/// library.
struct IsalDeflating {
    unsigned char* next_in;
    std::uint32_t avail_in;
    std::uint32_t total_in;
    unsigned char* next_out;
    std::uint32_t avail_out;
    std::uint32_t total_out;
    void* hufftables;
    std::uint32_t level;
    std::uint32_t level_buf_size;
    unsigned char* level_buf;
    std::uint16_t end_of_stream;
    std::uint16_t flush;
};

struct IsalInflating {
    unsigned char* next_out;
    std::uint32_t avail_out;
    std::uint32_t total_out;
    unsigned char* next_in;
    std::uint64_t read_in;
    std::uint32_t avail_in;
};

struct Isal {
    Library library{"ASSAY_LIB_ISAL", {"libisal.so.2"}};
    void (*init)(IsalDeflating*) = library.function<void(IsalDeflating*)>("isal_deflate_init");
    int (*compress)(IsalDeflating*) = library.function<int(IsalDeflating*)>("isal_deflate");
    void (*init_inflate)(IsalInflating*) = library.function<void(IsalInflating*)>("isal_inflate_init");
    int (*inflate)(IsalInflating*) = library.function<int(IsalInflating*)>("isal_inflate_stateless");
};

/// Add space for the library's private state: two windows, tables and some fields (87 KiB in version 2.30).
template <class Head>
union IsalState {
    Head head;
    std::array<unsigned char, 262144> all;
};

/// Size of the largest buffer of any level (ISAL_DEF_LVL3_EXTRA_LARGE).
constexpr std::size_t isal_buffer = 4096 + 16 * 1024 + 2 * 32768 + 4 * 131072;

} // namespace

std::size_t zlib_compress(const Chunk& chunk, int level) {
    return z_compress<Zlib1>(chunk, level);
}

std::size_t zlib_inflate(const Chunk& chunk, unsigned char*) {
    return z_inflate<Zlib1>(chunk);
}

const char* zlib_missing(const Chunks& w) {
    return z_missing<Zlib1>(w);
}

const char* zlib_name() {
    return z_name<Zlib1>("zlib");
}

std::size_t zlib_ng_compress(const Chunk& chunk, int level) {
    return z_compress<ZlibNg>(chunk, level);
}

std::size_t zlib_ng_inflate(const Chunk& chunk, unsigned char*) {
    return z_inflate<ZlibNg>(chunk);
}

const char* zlib_ng_missing(const Chunks& w) {
    return z_missing<ZlibNg>(w);
}

const char* zlib_ng_name() {
    return z_name<ZlibNg>("zlib-ng");
}

std::size_t libdeflate_compress(const Chunk& chunk, int level) {
    using Own = std::unique_ptr<void, void (*)(void*)>;
    const auto& library = the<Libdeflate>();
    thread_local std::map<int, Own> own;
    void* const at = own.try_emplace(level, Own(library.make(level), library.drop)).first->second.get();
    const std::size_t made = at ? library.compress(at, chunk.from, chunk.bytes, chunk.to, chunk.room) : 0;
    return made ? made : failed;
}

std::size_t libdeflate_inflate(const Chunk& chunk, unsigned char*) {
    const auto& library = the<Libdeflate>();
    thread_local const std::unique_ptr<void, void (*)(void*)> own(library.make_inflater(),
                                                                  library.drop_inflater);
    std::size_t made = 0;
    const bool right =
        own && library.inflate(own.get(), chunk.from, chunk.bytes, chunk.to, chunk.room, &made) == 0;
    return right ? made : failed;
}

const char* libdeflate_missing(const Chunks& w) {
    if (w.damaged) return not_damaged;
    const auto& found = the<Libdeflate>();
    if (!found.library.is_loaded()) return found.library.reason();
    return found.make && found.drop && found.compress && found.make_inflater && found.drop_inflater &&
                   found.inflate
               ? nullptr
               : "this libdeflate lacks functions to compress or inflate";
}

const char* libdeflate_name() {
    return the<Libdeflate>().library.path().c_str();
}

std::size_t isal_compress(const Chunk& chunk, int level) {
    thread_local const auto state = std::make_unique<IsalState<IsalDeflating>>();
    thread_local std::vector<unsigned char> buffer(isal_buffer);
    IsalDeflating& stream = state->head;
    the<Isal>().init(&stream);
    stream.level = static_cast<std::uint32_t>(level);
    stream.level_buf = buffer.data();
    stream.level_buf_size = isal_buffer;
    stream.end_of_stream = 1;
    stream.next_in = const_cast<unsigned char*>(chunk.from);
    stream.avail_in = static_cast<std::uint32_t>(chunk.bytes);
    stream.next_out = chunk.to;
    stream.avail_out = static_cast<std::uint32_t>(chunk.room);
    const bool right = the<Isal>().compress(&stream) == 0 && stream.avail_in == 0 && stream.avail_out > 0;
    return right ? stream.total_out : failed;
}

std::size_t isal_inflate(const Chunk& chunk, unsigned char*) {
    thread_local const auto state = std::make_unique<IsalState<IsalInflating>>();
    IsalInflating& stream = state->head;
    the<Isal>().init_inflate(&stream);
    stream.next_in = const_cast<unsigned char*>(chunk.from);
    stream.avail_in = static_cast<std::uint32_t>(chunk.bytes);
    stream.next_out = chunk.to;
    stream.avail_out = static_cast<std::uint32_t>(chunk.room);
    return the<Isal>().inflate(&stream) == 0 ? stream.total_out : failed;
}

const char* isal_missing(const Chunks& w) {
    if (w.damaged) return not_damaged;
    const auto& found = the<Isal>();
    if (!found.library.is_loaded()) return found.library.reason();
    return found.init && found.compress && found.init_inflate && found.inflate
               ? nullptr
               : "this libisal has no isal_deflate or isal_inflate";
}

const char* isal_name() {
    return the<Isal>().library.path().c_str();
}

} // namespace assay::kernels
